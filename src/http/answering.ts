/** Requests that are being answered: a number, since a set of their promises would cost each of them more. */
export class Answering {
  #count = 0
  #onNone: (() => void) | undefined

  begin(): void {
    this.#count += 1
  }

  end(): void {
    this.#count -= 1
    if (this.#count === 0) this.#onNone?.()
  }

  /** Resolves when there is none. */
  none(): Promise<void> {
    return new Promise(resolve => {
      if (this.#count === 0) resolve()
      else this.#onNone = resolve
    })
  }
}
