import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { documentPart } from '../support/document-part.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** The programs of this repository come first, for example buf and Node. */
export const environment = { ...process.env, PATH: `${root}node_modules/.bin:${process.env['PATH']}` }

/** The reason for which `npm run test:all` skips a test that takes minutes. */
export const elsewhere = process.env['ROSTER_TEST_CLIENTS'] ? '' : ' (skipped: npm run test:clients has it)'

/**
 * Empty where the machine has all these programs. Otherwise the reason for which a test is skipped. What Maven compiles
 * takes minutes.
 */
export function unlessThereIs(...programs: string[]): string {
  if (programs.includes('mvn') && elsewhere) return elsewhere
  const folders = environment.PATH.split(':')
  const missing = programs.filter((program) => !folders.some((folder) => existsSync(join(folder, program))))
  return missing.length > 0 ? ` (skipped: there is no ${missing.join(', ')})` : ''
}

/** The commands of a part of docs/clients.md. */
export function documentedCommands(part: string): string {
  return documentPart('clients.md', part).text.replaceAll(/^```.*$/gm, '')
}

/**
 * Builds the client of a folder here by commands, beside the files that are `given` by path. Returns the folder below
 * `.roster/` where it was built. The next run takes it from there, unless anything changed.
 */
export async function build(client: string, given: Record<string, string>, commands: string): Promise<string> {
  const [own, folder] = [join(import.meta.dirname, client), `${root}.roster/clients/${client}`]
  const files = globSync('**', { cwd: own }).filter((file) => statSync(join(own, file)).isFile())
  const inputs = createHash('sha256').update(JSON.stringify(given)).update(commands)
  for (const file of files.toSorted()) inputs.update(readFileSync(join(own, file)))
  const [stamp, made] = [join(folder, 'inputs.sha256'), inputs.digest('hex')]
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === made) return folder
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  if (existsSync(own)) cpSync(own, folder, { recursive: true })
  for (const [path, text] of Object.entries(given)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  await promisify(execFile)('bash', ['-ec', commands], { cwd: folder, env: environment, maxBuffer: 2 ** 26 })
  writeFileSync(stamp, made)
  return folder
}
