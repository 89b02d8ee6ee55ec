import { expect } from 'vitest'

/**
 * Expects that work takes as long with each name as with the first: the medians of so many tries, in any order, differ by
 * less than the share. A busy machine may blur them: then by less than four standard errors.
 */
export async function expectEqualTimes(
  names: string[],
  { tries, share }: { tries: number; share: number },
  work: (name: string) => Promise<unknown>,
): Promise<void> {
  const times = new Map(names.map((name) => [name, [] as number[]]))
  for (let n = 0; n < tries; n++)
    for (const name of names.toSorted(() => Math.random() - 0.5)) {
      const began = performance.now()
      await work(name)
      times.get(name)!.push(performance.now() - began)
    }
  const at = (name: string, part: number) => times.get(name)!.toSorted((a, b) => a - b)[Math.floor(tries * part)]!
  const usual = at(names[0]!, 0.5)
  for (const name of names.slice(1)) {
    const spread = [names[0]!, name].map((one) => (at(one, 0.75) - at(one, 0.25)) / 1.35)
    const standardError = (1.25 * Math.hypot(...spread)) / Math.sqrt(tries)
    const difference = Math.abs(at(name, 0.5) - usual)
    expect(difference, `${name} beside ${usual} ms`).toBeLessThan(Math.max(share * usual, 4 * standardError))
  }
}
