/** How many values the message of a call may have. Reading takes time by the value, much more than by the byte. */
export interface ValueLimit {
  most: number
  /** Hears of a message with more values than `fewValues` allows, before it is read. May throw. */
  count(values: number): void
}

export const fewValues: ValueLimit = { most: 2_000, count: () => {} }

/** Whether to tell the limit of so many values. */
export function isMany(values: number): boolean {
  return values > fewValues.most
}
