import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** The programs of this repository come first, for example buf and Node. */
export const environment = { ...process.env, PATH: `${root}node_modules/.bin:${process.env['PATH']}` }

/**
 * Runs commands in a folder, and returns what they say. After so many milliseconds they are ended, with all that they
 * started: npm alone would wait for a quarter of an hour for a registry that does not answer.
 */
export async function runCommands(
  commands: string,
  cwd: string,
  patience: number,
  settings: Record<string, string> = {},
): Promise<string> {
  const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe']
  const env = { ...environment, ...settings }
  const shell = spawn('bash', ['-ec', commands], { cwd, env, detached: true, stdio })
  let said = ''
  for (const stream of [shell.stdout, shell.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (said += chunk))
  const end = () => {
    try {
      process.kill(-shell.pid!, 'SIGKILL')
    } catch {
      // All of them have ended.
    }
  }
  const timer = setTimeout(end, patience)
  // A run that is stopped leaves nothing behind.
  process.on('exit', end)
  const ended = await new Promise<number | string>((resolve, reject) => {
    shell.on('error', reject)
    shell.on('close', (code, signal) => resolve(code ?? signal!))
  })
  clearTimeout(timer)
  process.off('exit', end)
  if (ended === 0) return said
  const why = ended === 'SIGKILL' ? `did not end within ${patience / 1000} seconds` : `ended with ${ended}`
  throw new Error(`these commands ${why}:\n${commands}\n${said.slice(-5000)}`)
}
