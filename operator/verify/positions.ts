/** Positions that share a piece of the set: so few that a piece for a single one is small, too. */
const together = 512

/** A set of positions of events. Its memory follows how many there are, and not how large they are. */
export class Positions {
  private pieces = new Map<number, Uint8Array>()

  add(position: number): void {
    const number = Math.floor(position / together)
    let piece = this.pieces.get(number)
    if (!piece) this.pieces.set(number, (piece = new Uint8Array(together / 8)))
    const within = position - number * together
    piece[within >> 3]! |= 1 << (within & 7)
  }

  has(position: number): boolean {
    const number = Math.floor(position / together)
    const within = position - number * together
    return ((this.pieces.get(number)?.[within >> 3] ?? 0) & (1 << (within & 7))) !== 0
  }
}
