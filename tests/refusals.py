"""The one line with which a call refuses its input."""

import pytest

from svmbench.errors import DataError


def refusal(call, *args, kind=DataError, **kwargs):
    """The message of the error of this kind that a call raises; it is a single line."""
    with pytest.raises(kind) as caught:
        call(*args, **kwargs)
    message = str(caught.value)
    assert "\n" not in message
    return message
