import { randomInt } from 'node:crypto'

const half = 1_000_000_000

/**
 * A new id of 18 digits, the first one not 0. ZITADEL's ids have that many, and its Terraform provider imports nothing by
 * another id: of these kinds nobody chooses one.
 */
export function idOfDigits(): string {
  return `${randomInt(half / 10, half)}${String(randomInt(half)).padStart(9, '0')}`
}
