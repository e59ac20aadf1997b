"""Documents for a JSON schema: values at and beyond every bound, one key or two at a time."""

import itertools
import re


class Documents:
    """The values of a schema and whether a value fits it.

    - ``schema``: the root, with its ``$defs``.
    - ``bases``: by the title of an object's schema: small objects to which one key or two are
      added. To all other objects, one key is added.
    """

    def __init__(self, schema, bases):
        self.schema, self.bases = schema, bases

    def resolved(self, schema):
        """The schema with its reference replaced."""
        while "$ref" in schema:
            named = self.schema["$defs"][schema["$ref"].rpartition("/")[2]]
            schema = named | {key: value for key, value in schema.items() if key != "$ref"}
        return schema

    def fits(self, value, schema=None):
        """Whether a value fits a JSON schema, as far as ours use the vocabulary."""
        schema = self.resolved(self.schema if schema is None else schema)
        if "not" in schema and self.fits(value, schema["not"]):
            return False
        if "if" in schema:
            branch = schema.get("then" if self.fits(value, schema["if"]) else "else", {})
            if not self.fits(value, branch):
                return False
        return (
            _is_typed(value, schema)
            and all(self.fits(value, each) for each in schema.get("allOf", []))
            and ("anyOf" not in schema or any(self.fits(value, s) for s in schema["anyOf"]))
            and ("oneOf" not in schema or sum(self.fits(value, s) for s in schema["oneOf"]) == 1)
            and (not _is_number(value) or _is_bounded(value, schema))
            and (not isinstance(value, str) or _is_spelt(value, schema))
            and (not isinstance(value, list) or self._fits_list(value, schema))
            and (not isinstance(value, dict) or self._fits_object(value, schema))
        )

    def _fits_list(self, values, schema):
        first = schema.get("prefixItems", [])
        return (
            schema.get("minItems", 0) <= len(values) <= schema.get("maxItems", len(values))
            and not (schema.get("uniqueItems") and _repeats(values))
            and all(self.fits(value, s) for value, s in zip(values, first, strict=False))
            and all(self.fits(value, schema.get("items", {})) for value in values[len(first) :])
        )

    def _fits_object(self, value, schema):
        known = schema.get("properties", {})
        return (
            set(schema.get("required", [])) <= set(value)
            and schema.get("minProperties", 0) <= len(value)
            and len(value) <= schema.get("maxProperties", len(value))
            and (schema.get("additionalProperties", True) or set(value) <= set(known))
            and all(self.fits(each, known.get(key, {})) for key, each in value.items())
        )


def _repeats(values):
    return any(one == other for one, other in itertools.combinations(values, 2))


def _is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_typed(value, schema):
    number = _is_number(value)
    types = {
        "object": isinstance(value, dict),
        "array": isinstance(value, list),
        "string": isinstance(value, str),
        "number": number,
        "integer": number and (isinstance(value, int) or value.is_integer()),
        "boolean": isinstance(value, bool),
        "null": value is None,
    }
    named = schema.get("enum", [schema["const"]] if "const" in schema else [value])
    same = [
        one for one in named if one == value and isinstance(one, bool) == isinstance(value, bool)
    ]
    return bool(same) and ("type" not in schema or types[schema["type"]])


def _is_bounded(value, schema):
    return (
        value >= schema.get("minimum", value)
        and value <= schema.get("maximum", value)
        and ("exclusiveMinimum" not in schema or value > schema["exclusiveMinimum"])
        and ("exclusiveMaximum" not in schema or value < schema["exclusiveMaximum"])
        and ("multipleOf" not in schema or value % schema["multipleOf"] == 0)
    )


def _is_spelt(value, schema):
    return (
        # A dollar of Python's also matches before a last line end; ECMA's does not.
        re.search(schema.get("pattern", "").replace("$", r"\Z"), value) is not None
        and schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value))
    )
