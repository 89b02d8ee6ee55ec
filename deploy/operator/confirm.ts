import { createInterface } from 'node:readline/promises'
import { Refusal } from './refusal.ts'

/** Asks the user before something is lost. Without a terminal, only `--yes` agrees. */
export async function confirm(question: string, isAgreed: boolean): Promise<void> {
  if (isAgreed) return
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new Refusal(`${question} Nothing was done: there is no terminal to ask at, and --yes was not given.`)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await terminal.question(`${question} Type yes to go on: `)
    if (answer.trim() !== 'yes') throw new Refusal('Nothing was done.')
  } finally {
    terminal.close()
  }
}
