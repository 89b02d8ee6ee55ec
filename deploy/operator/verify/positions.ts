/** A set of positions of events, at the cost of a bit for each. */
export class Positions {
  private bits = new Uint8Array(1024)

  add(position: number): void {
    const byte = Math.floor(position / 8)
    if (byte >= this.bits.length) {
      const larger = new Uint8Array(Math.max(byte + 1, this.bits.length * 2))
      larger.set(this.bits)
      this.bits = larger
    }
    this.bits[byte]! |= 1 << (position % 8)
  }

  has(position: number): boolean {
    return ((this.bits[Math.floor(position / 8)] ?? 0) & (1 << (position % 8))) !== 0
  }
}
