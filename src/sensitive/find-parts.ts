/** From where to where, in bytes. */
export interface Span {
  readonly from: number
  readonly to: number
}

/**
 * Where any of the parts occurs in the text; those that overlap are one span. Takes time in proportion to the text and the parts,
 * however many and however alike they are: a bundle chooses both.
 */
export function findParts(text: Uint8Array, parts: Iterable<Uint8Array>): readonly Span[] {
  const index = createIndex(text)
  for (const part of parts) index.mark(part)
  const spans: { from: number; to: number }[] = []
  for (let to = 1; to <= text.length; to++) {
    const from = to - index.longestAt(to)
    if (from === to) continue
    const span = { from, to }
    for (let last = spans.at(-1); last !== undefined && last.to > from; last = spans.at(-1)) {
      span.from = Math.min(span.from, last.from)
      spans.pop()
    }
    spans.push(span)
  }
  return spans
}

/**
 * A suffix automaton: whoever begins at its first state and follows the bytes of any part of the text stays in it, and only then.
 * A state stands for parts that end at the same places, `length` is that of the longest; its `link` is the state of the longest
 * part that also ends there and elsewhere too.
 */
function createIndex(text: Uint8Array) {
  const most = 2 * text.length + 1
  const length = new Int32Array(most)
  const link = new Int32Array(most).fill(-1)
  const edges = createEdges(most, 3 * text.length + 1)
  /** The state of each beginning of the text. */
  const beginnings = new Int32Array(text.length + 1)
  let count = 1
  for (const [at, byte] of text.entries()) {
    const state = count++
    length[state] = at + 1
    let from = beginnings[at] ?? 0
    while (from >= 0 && edges.add(from, byte, state)) from = link[from] ?? -1
    link[state] = from < 0 ? 0 : forkedAt(from, byte)
    beginnings[at + 1] = state
  }

  /** Where a byte leads to, for parts no longer than what leads there: in a state of their own, if there are longer ones. */
  function forkedAt(from: number, byte: number): number {
    const target = edges.follow(from, byte)
    const wanted = (length[from] ?? 0) + 1
    if (length[target] === wanted) return target
    const fork = count++
    length[fork] = wanted
    link[fork] = link[target] ?? -1
    link[target] = fork
    edges.copy(target, fork)
    for (let state = from; state >= 0 && edges.follow(state, byte) === target; state = link[state] ?? -1)
      edges.redirect(state, byte, fork)
    return fork
  }

  const marked = new Int32Array(most)
  const settled = new Uint8Array(most)
  return {
    /** To be called before anybody asks. */
    mark(part: Uint8Array): void {
      let state = 0
      for (const byte of part) {
        state = edges.follow(state, byte)
        if (state < 0) return
      }
      marked[state] = Math.max(marked[state] ?? 0, part.length)
    },
    /** The length of the longest marked part that ends there; 0 where none does. */
    longestAt(end: number): number {
      const path: number[] = []
      for (let state = beginnings[end] ?? 0; state > 0 && settled[state] === 0; state = link[state] ?? 0)
        path.push(state)
      for (const state of path.reverse()) {
        settled[state] = 1
        marked[state] = Math.max(marked[state] ?? 0, marked[link[state] ?? 0] ?? 0)
      }
      return marked[beginnings[end] ?? 0] ?? 0
    },
  }
}

/** From each state a list of bytes, and where they lead. Lists and not maps: most states have one byte. */
function createEdges(states: number, most: number) {
  const first = new Int32Array(states).fill(-1)
  const next = new Int32Array(most)
  const target = new Int32Array(most)
  const bytes = new Uint8Array(most)
  let count = 0

  function find(state: number, byte: number): number {
    let edge = first[state] ?? -1
    while (edge >= 0 && bytes[edge] !== byte) edge = next[edge] ?? -1
    return edge
  }

  function append(state: number, byte: number, to: number): void {
    const edge = count++
    bytes[edge] = byte
    target[edge] = to
    next[edge] = first[state] ?? -1
    first[state] = edge
  }

  return {
    /** -1 where it leads nowhere. */
    follow(state: number, byte: number): number {
      const edge = find(state, byte)
      return edge < 0 ? -1 : (target[edge] ?? -1)
    },
    /** Whether there was none. */
    add(state: number, byte: number, to: number): boolean {
      if (find(state, byte) >= 0) return false
      append(state, byte, to)
      return true
    },
    redirect(state: number, byte: number, to: number): void {
      target[find(state, byte)] = to
    },
    copy(state: number, to: number): void {
      for (let edge = first[state] ?? -1; edge >= 0; edge = next[edge] ?? -1)
        append(to, bytes[edge] ?? 0, target[edge] ?? -1)
    },
  }
}
