import { setTimeout as sleep } from 'node:timers/promises'

const patience = 120_000

/** Asks again and again until the answer is true. An error counts as no. */
export async function until(what: string, ask: () => Promise<boolean>): Promise<void> {
  let failure: unknown = 'no'
  for (const end = Date.now() + patience; Date.now() < end; await sleep(250))
    if (await ask().catch((error: unknown) => void (failure = error))) return
  throw new Error(`it never came to be: ${what}`, { cause: failure })
}

/** Whether a URL answers with success. */
export async function answersOk(url: string): Promise<boolean> {
  return (await fetch(url, { signal: AbortSignal.timeout(2000) })).ok
}
