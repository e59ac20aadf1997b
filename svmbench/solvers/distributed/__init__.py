"""Methods that divide the rows into shards and exchange sums over them."""
