/** How many operations of each kind wait, as far as this process has accepted them. Others may begin them: it is a sample. */
export class QueueMix {
  readonly #counts = new Map<string, number>()

  add(kind: string): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1)
  }

  remove(kind: string): void {
    const count = (this.#counts.get(kind) ?? 0) - 1
    if (count > 0) this.#counts.set(kind, count)
    else this.#counts.delete(kind)
  }

  /** No more than so many wait: what others have begun is as mixed as the rest. */
  shrinkTo(most: number): void {
    const known = this.#known
    if (most === 0) this.#counts.clear()
    else if (known > most) for (const [kind, count] of this.#counts) this.#counts.set(kind, (count * most) / known)
  }

  /** The mean of so many that wait. Those that others have accepted are taken for some of kind `other`. */
  mean(count: number, other: string, usual: (kind: string) => number): number {
    const others = Math.max(0, count - this.#known)
    let [sum, all] = others > 0 ? [others * usual(other), others] : [0, 0]
    for (const [kind, known] of this.#counts) {
      sum += known * usual(kind)
      all += known
    }
    return all === 0 ? usual(other) : sum / all
  }

  get #known(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0)
  }
}
