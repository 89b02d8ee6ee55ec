import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { vi } from 'vitest'

/** Starts a program that ends with the tests, and waits until it answers this address with 200. Returns what stops it. */
export async function startProgram(
  [file, ...words]: string[],
  env: Record<string, string>,
  url: string,
  patience: number,
): Promise<() => Promise<void>> {
  const program = spawn('setpriv', ['--pdeathsig', 'KILL', file!, ...words], { env: { ...process.env, ...env } })
  const exited = once(program, 'exit')
  let said = ''
  for (const stream of [program.stdout, program.stderr]) stream.on('data', (chunk: Buffer) => (said += String(chunk)))
  const stop = async () => {
    program.kill('SIGKILL')
    await exited
  }
  const answers = async () => {
    if (program.exitCode !== null) throw new Error(said)
    const answer = await fetch(url)
    if (!answer.ok) throw new Error(`${url} answers ${answer.status}: ${said.slice(-2000)}`)
  }
  await vi.waitFor(answers, { timeout: patience, interval: 200 }).catch(async (error: unknown) => {
    await stop()
    throw error
  })
  return stop
}
