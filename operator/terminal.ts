import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import { Refusal } from './refusal.ts'

/** Where a command is run: the settings that it finds, and where it reads and writes. `process` is one. */
export interface Terminal {
  env: Record<string, string | undefined>
  stdin: NodeJS.ReadableStream & { isTTY?: boolean }
  stdout: NodeJS.WritableStream
  stderr: NodeJS.WritableStream & { isTTY?: boolean }
}

/** Asks the user before something is lost. Without a terminal, only `--yes` agrees. */
export async function confirm({ stdin, stderr }: Terminal, question: string, isAgreed: boolean): Promise<void> {
  if (isAgreed) return
  if (!stdin.isTTY || !stderr.isTTY)
    throw new Refusal(`${question} Nothing was done: there is no terminal to ask at, and --yes was not given.`)
  const asked = createInterface({ input: stdin, output: stderr })
  try {
    // The end of the input is no answer, and no other one would come.
    const ended = once(asked, 'close').then(() => '')
    const answer = await Promise.race([asked.question(`${question} Type yes to go on: `), ended])
    if (answer.trim() !== 'yes') throw new Refusal('Nothing was done.')
  } finally {
    asked.close()
  }
}
