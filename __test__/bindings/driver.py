"""Runs the cases of vectors/bindings.jsonl through the C interface, as run.mjs defines it, and prints a
line for each: driver.py LIBRARY CASES"""

import base64
import ctypes
import json
import os
import shutil
import sys
import tempfile

Size, Bytes = ctypes.c_size_t, ctypes.c_char_p


class Buffer(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("len", Size)]


class Error(ctypes.Structure):
    _fields_ = [("code", Bytes), ("message", Buffer), ("path", Buffer)]


class Refusal(Exception):
    pass


class Library:
    def __init__(self, path):
        self.functions = ctypes.CDLL(path)
        self.functions.hashline_free.restype = None

    def taken(self, buffer):
        """Copies the bytes of a buffer, and frees it."""
        copy = ctypes.string_at(buffer.data, buffer.len) if buffer.data else None
        self.functions.hashline_free(ctypes.byref(buffer))
        return copy and copy.decode() if copy != b"" else ""

    def into(self, room, name, *arguments):
        """Calls a function; bytes are followed by their length, numbers name sessions."""
        error, words = Error(), []
        for argument in arguments:
            if isinstance(argument, int):
                words.append(ctypes.c_uint64(argument))
            else:
                words += [Bytes(argument), Size(len(argument or b""))]
        function = getattr(self.functions, "hashline_" + name)
        function.restype = ctypes.c_bool
        if not function(*words, ctypes.byref(room), ctypes.byref(error)):
            refusal = {"code": error.code.decode(), "message": self.taken(error.message)}
            path = self.taken(error.path)
            raise Refusal(refusal if path is None else {**refusal, "path": path})
        return room

    def text(self, name, *arguments):
        return self.taken(self.into(Buffer(), name, *arguments))

    def data(self, name, *arguments):
        return json.loads(self.text(name, *arguments))

    def open(self, options):
        return self.into(ctypes.c_uint64(), "session_open", written(options)).value

    def close(self, session):
        self.functions.hashline_session_close(ctypes.c_uint64(session))


def written(value):
    """JSON as JavaScript writes it: a document keeps the spelling of values in its request."""
    return None if value is None else json.dumps(value, ensure_ascii=False).encode()


def bytes_of(content):
    return content.encode() if isinstance(content, str) else base64.b64decode(content["base64"])


def units(text):
    """Converts offsets in bytes to offsets in UTF-16 code units."""
    return lambda place: len(text.encode()[:place].decode().encode("utf-16-le")) // 2


def made(library, session, directory, state, call):
    kind, given, options = call["call"], call.get("given"), call.get("options")
    reading = written({**(options or {}), "root": directory})
    writing = written(
        {"durability": "process", **(options or {}), "root": directory, "stateDir": state}
    )
    if kind == "write":
        return write(directory, given)
    if kind == "annotate":
        return library.data("session_annotate", session, given.encode(), written(options))
    if kind == "observe":
        path = (options or {}).get("path")
        named = None if path is None else path.encode()
        return library.data("session_observe", session, given.encode(), named)
    if kind == "forget":
        return library.data("session_forget", session, None if given is None else given.encode())
    if kind == "setDocument":
        content = given["content"]
        is_bytes = not isinstance(content, str)
        options = {**(options or {}), **({"bytes": True} if is_bytes else {})}
        path, text = given["path"].encode(), bytes_of(content)
        return library.data("session_set_document", session, path, text, written(options))
    if kind == "closeDocument":
        return library.data("session_close_document", session, given.encode())
    if kind == "documents":
        return library.data("session_documents", session)
    if kind in ("read", "search", "apply") and session:
        extra = [written(options)] if kind == "apply" else []
        return library.data("session_" + kind, session, written(given), *extra)
    if kind in ("read", "search"):
        return library.data(kind, written(given), reading)
    if kind == "readJson":
        return library.data("read_json", written(given), reading)
    if kind == "apply":
        return library.data("apply", written(given), writing)
    if kind == "applyToText":
        text = call.get("text", "").encode()
        return library.data("apply_text", text, written(given), written(options))
    if kind == "format":
        return library.text("format", bytes_of(given), written(options))
    if kind == "hashLines":
        return library.data("hash_lines", bytes_of(given), written(options))
    if kind == "checkCommand":
        judgement = library.data("check_command", given.encode(), written(options))
        place = units(given)
        for finding in judgement["findings"]:
            finding["span"] = {name: place(at) for name, at in finding["span"].items()}
        return judgement
    if kind == "recover":
        return library.data("recover", written({"stateDir": state}))
    raise ValueError(kind)


def answer_of(*arguments):
    try:
        return {"answer": made(*arguments)}
    except Refusal as refusal:
        return {"error": refusal.args[0]}


def write(directory, files):
    for name, content in files.items():
        path = os.path.join(directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if isinstance(content, dict) and "link" in content:
            os.symlink(content["link"], path)
        else:
            with open(path, "wb") as file:
                file.write(bytes_of(content))


def content_of(path):
    if os.path.islink(path):
        return {"link": os.readlink(path)}
    with open(path, "rb") as file:
        content = file.read()
    try:
        return content.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode()}


def contents(directory):
    found = {}
    for below, directories, files in os.walk(directory):
        links = [name for name in directories if os.path.islink(os.path.join(below, name))]
        for name in files + links:
            path = os.path.join(below, name)
            found[os.path.relpath(path, directory)] = content_of(path)
    return found


def line_of(library, case):
    scratch = os.path.realpath(tempfile.mkdtemp(prefix="hashline-bindings-"))
    directory, state = os.path.join(scratch, "dir"), os.path.join(scratch, "state")
    os.mkdir(directory)
    try:
        write(directory, case["files"])
        session = 0
        if "session" in case:
            session = library.open({**case["session"], "cwd": directory, "stateDir": state})
        answers = [answer_of(library, session, directory, state, call) for call in case["calls"]]
        if session:
            library.close(session)
        line = {"name": case["name"], "answers": answers, "files": contents(directory)}
        text = json.dumps(line, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return text.replace(directory, "<dir>")
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    library = Library(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as cases:
        for row in cases:
            line = line_of(library, json.loads(row))
            sys.stdout.buffer.write(line.encode() + b"\n")
