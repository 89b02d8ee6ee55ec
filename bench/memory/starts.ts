import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { projectRoot } from '../../deploy/local/home.ts'
import { freePort } from '../../deploy/local/ports.ts'
import { median } from '../speed/measure.ts'

/** Seconds until `npm start` says that all is ready: in a new folder, and the median of five with its data. */
export async function timeStarts(): Promise<{ cold: number; warm: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'roster-bench-start-'))
  const program = join(folder, 'start.ts')
  const start = JSON.stringify(join(projectRoot, 'deploy/local/start.ts'))
  writeFileSync(program, `import { main } from ${start}; await main({ dataDir: import.meta.dirname + '/home' })`)
  try {
    const cold = await timeStart(program)
    const warm: number[] = []
    while (warm.length < 5) warm.push(await timeStart(program))
    return { cold, warm: median(warm) }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function timeStart(program: string): Promise<number> {
  const since = performance.now()
  const env = { ...process.env, PORT: String(await freePort(0)) }
  const child = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  // The greeting is the first that it prints when all is ready.
  const [said] = (await Promise.race([once(child.stdout, 'data'), ended])) as unknown[]
  const seconds = (performance.now() - since) / 1000
  if (!String(said).includes('localhost')) throw new Error(`npm start did not become ready: ${String(said)}`)
  child.kill('SIGINT')
  await ended
  return seconds
}
