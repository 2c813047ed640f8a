# JSON for the commands beside it, in any POSIX awk. Everything comes in by variables of the environment and by stdin, as
# bytes: run it with LC_ALL=C. Exits with 1 where there is no such value or it is null, and with 3 where the file is no JSON.
#
#   JSON_DO=get    JSON_FILE JSON_PATH   prints the value at a path such as plan.name; with [] at its end each of a list
#   JSON_DO=keys   JSON_FILE             prints "+ key" for each key of the object, and "- key" where it is null
#   JSON_DO=value  JSON_FILE JSON_KEY    prints the value of one key of the object
#   JSON_DO=merge  JSON_FILE JSON_KEY JSON_KIND   prints the object with that key: `null`, `raw` (from JSON_RAW), or `text`
#                  (from stdin, where one x and a newline follow it: so its own last newline is not lost)

BEGIN {
  ORS = ""
  read(ENVIRON["JSON_FILE"])
  if (ENVIRON["JSON_DO"] == "get") exit get(ENVIRON["JSON_PATH"])
  if (ENVIRON["JSON_DO"] == "keys") exit keys()
  if (ENVIRON["JSON_DO"] == "value") exit show(SUBSEP encode(ENVIRON["JSON_KEY"]), "")
  merge(encode(ENVIRON["JSON_KEY"]), ENVIRON["JSON_KIND"])
}

function get(path,    list, i) {
  list = sub(/\[\]$/, "", path)
  gsub(/\./, SUBSEP, path)
  path = SUBSEP path
  if (!list) return show(path, "")
  if (substr(found[path], 1, 1) != "[") return 1
  for (i = 0; (path SUBSEP i) in found; i++) show(path SUBSEP i, "\n")
  return 0
}

function show(path, after) {
  if (!(path in found) || found[path] == "null") return 1
  if (substr(found[path], 1, 1) == "\"") decode(substr(found[path], 2, length(found[path]) - 2))
  else print found[path]
  print after
  return 0
}

function keys(    i) {
  for (i = 1; i <= size; i++) print (found[SUBSEP names[i]] == "null" ? "- " : "+ ") names[i] "\n"
  return 0
}

function merge(key, type,    i, line, following, more) {
  print "{"
  for (i = 1; i <= size; i++)
    if (names[i] != key) print "\"" names[i] "\":" found[SUBSEP names[i]] ","
  print "\"" key "\":"
  if (type == "null") print "null"
  else if (type == "raw") print ENVIRON["JSON_RAW"]
  else {
    print "\""
    more = (getline line) > 0
    while (more) {
      more = (getline following) > 0
      for (i = 1; i <= length(line) - !more; i += 4096)
        print encode(substr(line, i, more || i + 4096 <= length(line) ? 4096 : length(line) - i))
      if (more) print "\\n"
      line = following
    }
    print "\""
  }
  print "}\n"
}

function encode(text,    i, code) {
  text = replace(text, "\\", "\\\\")
  text = replace(text, "\"", "\\\"")
  for (i = 1; i < 32; i++) {
    code = sprintf("%c", i)
    if (index(text, code)) text = replace(text, code, sprintf("\\u%04x", i))
  }
  return text
}

function replace(text, from, to,    out, at) {
  while ((at = index(text, from)) > 0) {
    out = out substr(text, 1, at - 1) to
    text = substr(text, at + 1)
  }
  return out text
}

# Prints what stands between the quotes of a JSON text. The parts begin where backslashes were: an empty one is the first
# of two.
function decode(raw,    parts, n, i, letter, code) {
  n = split(raw, parts, /\\/)
  print parts[1]
  for (i = 2; i <= n; i++) {
    letter = substr(parts[i], 1, 1)
    if (parts[i] == "") print "\\" parts[++i]
    else if (letter == "u") {
      code = hex(substr(parts[i], 2, 4))
      if (code >= 55296 && code < 56320 && length(parts[i]) == 5 && parts[i + 1] ~ /^u[dD][c-fC-F]/)
        code = 65536 + (code - 55296) * 1024 + hex(substr(parts[++i], 2, 4)) - 56320
      print utf8(code) substr(parts[i], 6)
    }
    else print (letter in escapes ? escapes[letter] : letter) substr(parts[i], 2)
  }
}

function hex(text,    i, number) {
  for (i = 1; i <= 4; i++) number = number * 16 + index("0123456789abcdef", tolower(substr(text, i, 1))) - 1
  return number
}

# Half of a pair of surrogates is no character: it becomes the sign for what cannot be shown.
function utf8(code) {
  if (code >= 55296 && code < 57344) code = 65533
  if (code < 128) return sprintf("%c", code)
  if (code < 2048) return sprintf("%c%c", 192 + int(code / 64), 128 + code % 64)
  if (code < 65536) return sprintf("%c%c%c", 224 + int(code / 4096), 128 + int(code / 64) % 64, 128 + code % 64)
  return sprintf("%c%c%c%c", 240 + int(code / 262144), 128 + int(code / 4096) % 64, 128 + int(code / 64) % 64, 128 + code % 64)
}

# Reads the file into found[path] = JSON, and the keys of its object into names[1..size], as they are written there.
function read(file,    text) {
  escapes["n"] = "\n"; escapes["t"] = "\t"; escapes["r"] = "\r"; escapes["b"] = "\b"; escapes["f"] = "\f"
  # JSON has no such character, so the whole file is one record.
  RS = "\001"
  if ((getline text < file) < 1) text = "{}"
  close(file)
  RS = "\n"
  tokenize(text)
  at = 1
  value("")
  if (broken || at != count + 1) exit 3
}

# Every second piece between quotes is outside of a text, but for quotes behind a backslash that counts. A long text is put
# together from parts of some size: awks copy all of a text whenever something is added to it.
function tokenize(text,    pieces, n, i, inside, held, part) {
  n = split(text, pieces, /"/)
  for (i = 1; i <= n; i++) {
    if (!inside) {
      structure(pieces[i])
      inside = 1
      held = part = ""
    }
    else if (match(pieces[i], /\\+$/) && RLENGTH % 2) {
      part = part pieces[i] "\""
      if (length(part) > 4096) {
        held = held part
        part = ""
      }
    }
    else {
      add("text", held part pieces[i])
      inside = 0
    }
  }
  if (!inside) broken = 1
}

function structure(text) {
  for (;;) {
    sub(/^[ \t\r\n]+/, "", text)
    if (text == "") return
    if (match(text, /^[^][{},: \t\r\n]+/)) add("word", substr(text, 1, RLENGTH))
    else {
      RLENGTH = 1
      add(substr(text, 1, 1), "")
    }
    text = substr(text, RLENGTH + 1)
  }
}

function add(type, text) {
  kind[++count] = type
  token[count] = text
}

# The value that begins at the token `at`, as JSON.
function value(path,    raw, n, key) {
  if (kind[at] == "text") raw = "\"" token[at++] "\""
  else if (kind[at] == "word") raw = token[at++]
  else if (kind[at] == "{") {
    at++
    for (n = 0; !broken && kind[at] != "}"; n++) {
      if (n) expect(",")
      key = token[at]
      expect("text")
      expect(":")
      if (path == "") names[++size] = key
      raw = raw (n ? "," : "") "\"" key "\":" value(path SUBSEP key)
    }
    expect("}")
    raw = "{" raw "}"
  }
  else if (kind[at] == "[") {
    at++
    for (n = 0; !broken && kind[at] != "]"; n++) {
      if (n) expect(",")
      raw = raw (n ? "," : "") value(path SUBSEP n)
    }
    expect("]")
    raw = "[" raw "]"
  }
  else broken = 1
  found[path] = raw
  return raw
}

function expect(type) {
  if (kind[at] == type) at++
  else broken = 1
}
