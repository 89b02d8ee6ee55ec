import { createHash } from 'node:crypto'
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inject } from 'vitest'
import { documentPart } from '../support/document-part.ts'
import { environment, runCommands } from './run-commands.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Milliseconds: less than a test may take. Compilers need minutes. */
const patience = 480_000

/** The reason for which `npm run test:all` skips a test that takes minutes. */
export const elsewhere = process.env['ROSTER_TEST_CLIENTS'] ? '' : ' (skipped: npm run test:clients has it)'

/**
 * Empty where the machine has all these programs, and the registries of their packages answer. Otherwise the reason for
 * which a test is skipped. What Maven compiles takes minutes.
 */
export function unlessThereIs(...programs: string[]): string {
  return (programs.includes('mvn') && elsewhere) || unlessThereAre(...programs)
}

/** As unlessThereIs, for what Maven fetches alone. */
export function unlessThereAre(...programs: string[]): string {
  const folders = environment.PATH.split(':')
  const missing = programs.filter((program) => !folders.some((folder) => existsSync(join(folder, program))))
  if (missing.length > 0) return ` (skipped: there is no ${missing.join(', ')})`
  const silent = inject('withoutRegistry').filter((installer) => programs.includes(installer))
  return silent.length > 0 ? ` (skipped: the registry of ${silent.join(', ')} does not answer)` : ''
}

/** The commands of a part of docs/clients.md. */
export function documentedCommands(part: string): string {
  return documentPart('clients.md', part).text.replaceAll(/^```.*$/gm, '')
}

/**
 * Builds the client of a folder here by commands, beside the files that are `given` by path. Returns the folder below
 * `.roster/` where it was built, with what the commands said in `said.txt`. The next run takes it from there, unless
 * anything changed.
 */
export function build(client: string, given: Record<string, string>, commands: string): Promise<string> {
  // What failed fails for each test of the file, at once.
  const known = builds.get(client) ?? buildAnew(client, given, commands)
  builds.set(client, known)
  return known
}

const builds = new Map<string, Promise<string>>()

async function buildAnew(client: string, given: Record<string, string>, commands: string): Promise<string> {
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
  writeFileSync(join(folder, 'said.txt'), await runCommands(commands, folder, patience))
  writeFileSync(stamp, made)
  return folder
}

/** Installs a program that is written in Go, such as `example.com/tool/cmd/tool@v1`. Returns its path. */
export async function installGo(program: string): Promise<string> {
  const [, name] = /([^/]+)@/.exec(program)!
  return join(await build(`go-programs/${name}`, {}, `GOBIN="$PWD" go install ${program}`), name!)
}
