"""The Khronos registry of Vulkan, ``vk.xml``: what it says of structures, commands and constants, in the words of
:mod:`coopmat.targets.vulkan.api.table`."""

from __future__ import annotations

import re
import xml.etree.ElementTree as xml
from collections.abc import Iterable
from pathlib import Path

from tests.kit.oracles.vulkan import FOLDER

_FILE = Path("share/vulkan/registry/vk.xml")
_PLACES = (FOLDER / "usr" / _FILE, Path("/usr/local") / _FILE, Path("/usr") / _FILE)
_INTEGER = re.compile(r"-?(0x)?[0-9A-Fa-f]+U?L*")
_TYPES = {"uint32_t": "u32", "int32_t": "i32", "uint64_t": "u64", "float": "f32", "size_t": "size", "uint8_t": "u8",
          "char": "char", "VkBool32": "u32", "VkFlags": "u32", "VkFlags64": "u64", "VkDeviceSize": "u64",
          "VkDeviceAddress": "u64", "VkResult": "i32", "void": "void"}


def path() -> Path | None:
    """Where the registry is; None if it is not installed here."""
    return next((place for place in _PLACES if place.exists()), None)


class Registry:
    """One file. ``version``: of Vulkan's headers."""

    def __init__(self, file: Path) -> None:
        self.root = xml.parse(file).getroot()
        self._types = {one.get("name") or one.findtext("name") or "": one
                       for one in _of_vulkan(self.root.iterfind("types/type"))}
        self._commands = {one.findtext("proto/name"): one
                          for one in _of_vulkan(self.root.iterfind("commands/command"))}
        self._aliases = {one.get("name"): one.get("alias") for kind in ("types/type", "commands/command")
                         for one in self.root.iterfind(kind) if one.get("alias")}
        self._numbers: dict[str, int] = {}
        self._note_constants()
        self.version = int("".join(self._types["VK_HEADER_VERSION"].itertext()).split()[-1])

    def structure(self, name: str) -> str:
        """``sType member:type …``; without an sType, ``-`` in its place."""
        found = _of_vulkan(self._types[self._aliases.get(name) or name].iterfind("member"))
        kind = next((one.get("values") for one in found if one.findtext("name") == "sType"), None)
        members = [(one.findtext("name"), self._member(one)) for one in found]
        shown = " ".join(f"{member}:{code}" for member, code in members
                         if kind is None or member not in ("sType", "pNext"))
        return f"{self.constant(kind) if kind else '-'} {shown}"

    def command(self, name: str) -> str:
        """``result parameter …``, by their types."""
        found = self._commands[self._aliases.get(name) or name]
        prototype = found.find("proto")
        assert prototype is not None
        parameters = _of_vulkan(found.iterfind("param"))
        return " ".join([self._type(prototype), *map(self._member, parameters)])

    def constant(self, name: str) -> int:
        """The number of an enumerant, a bit or a limit."""
        return self._numbers[name]

    def _member(self, one: xml.Element) -> str:
        code = self._type(one)
        counts = re.findall(r"\[(\w+)\]", _text(one))
        numbers = [int(count) if count.isdigit() else self.constant(count) for count in counts]
        return code if code == "ptr" else code + "".join(f"[{count}]" for count in numbers)

    def _type(self, one: xml.Element) -> str:
        kind = one.findtext("type") or ""
        if "*" in _text(one) or kind.startswith("PFN_"):
            return "ptr"
        if kind in _TYPES:
            return _TYPES[kind]
        found = self._types[self._aliases.get(kind) or kind]
        match found.get("category"):
            case "handle":
                return "ptr" if found.findtext("type") == "VK_DEFINE_HANDLE" else "u64"
            case "enum":
                return "u32"
            case "bitmask" | "basetype":
                return _TYPES[found.findtext("type") or ""]
        return kind

    def _note_constants(self) -> None:
        """Numbers first, then those that are other names."""
        extensions = {one: extension.get("number") for extension in self.root.iterfind("extensions/extension")
                      for one in extension.iter("enum")}
        found = _of_vulkan(self.root.iter("enum"))
        for one in found:
            number = _number(one, one.get("extnumber") or extensions.get(one))
            if number is not None:
                self._numbers[one.get("name") or ""] = number
        for one in found:
            if one.get("alias") in self._numbers:
                self._numbers[one.get("name") or ""] = self._numbers[one.get("alias") or ""]


def _of_vulkan(found: Iterable[xml.Element]) -> list[xml.Element]:
    """What is not for Vulkan SC only."""
    return [one for one in found if "vulkan" in one.get("api", "vulkan").split(",")]


def _text(one: xml.Element) -> str:
    """An element's text without comments."""
    return (one.text or "") + "".join((part.text or "") * (part.tag != "comment") + (part.tail or "") for part in one)


def _number(one: xml.Element, extension: str | None) -> int | None:
    """The number that an element gives a name, if it gives one (the registry's document, section "Enum Tags")."""
    value, place = one.get("value"), one.get("offset")
    if value is not None:
        return int(value.rstrip("UL"), 0) if _INTEGER.fullmatch(value) else None
    if one.get("bitpos"):
        return 1 << int(one.get("bitpos") or "")
    if place is None or extension is None:
        return None
    found = 1000000000 + (int(extension) - 1) * 1000 + int(place)
    return -found if one.get("dir") == "-" else found
