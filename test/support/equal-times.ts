import { expect } from 'vitest'

const attempts = 3

/**
 * Expects that work takes as long with each name as with the first: the medians of so many tries, in any order, differ by
 * less than the share. A busy machine makes them vary: then by less than four standard errors. Load may also fall on the tries
 * of one name, or distort the costs that Roster measures of hashes. So a difference must show in each of three attempts.
 */
export async function expectEqualTimes(
  names: string[],
  how: { tries: number; share: number },
  work: (name: string) => Promise<unknown>,
): Promise<void> {
  let found: string[] = []
  for (let attempt = 0; attempt < attempts; attempt++) {
    found = await differencesOf(names, how, work)
    if (found.length === 0) return
  }
  expect(found).toEqual([])
}

async function differencesOf(
  names: string[],
  { tries, share }: { tries: number; share: number },
  work: (name: string) => Promise<unknown>,
): Promise<string[]> {
  const times = new Map(names.map((name) => [name, [] as number[]]))
  for (let n = 0; n < tries; n++)
    for (const name of names.toSorted(() => Math.random() - 0.5)) {
      const began = performance.now()
      await work(name)
      times.get(name)!.push(performance.now() - began)
    }
  const at = (name: string, part: number) => times.get(name)!.toSorted((a, b) => a - b)[Math.floor(tries * part)]!
  const usual = at(names[0]!, 0.5)
  return names.slice(1).flatMap((name) => {
    const spread = [names[0]!, name].map((one) => (at(one, 0.75) - at(one, 0.25)) / 1.35)
    const standardError = (1.25 * Math.hypot(...spread)) / Math.sqrt(tries)
    const difference = at(name, 0.5) - usual
    const allowed = Math.max(share * usual, 4 * standardError)
    return Math.abs(difference) < allowed
      ? []
      : [`${name}: ${difference} ms beside ${usual} ms, where ${allowed} are allowed`]
  })
}
