import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { documentPart } from '../../support/document-part.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** The Node of this repository comes first: generators in TypeScript need a newer one than `npm start`. */
export const environment = { ...process.env, PATH: `${root}node_modules/.bin:${process.env['PATH']}` }

/**
 * Makes a client from the document by the commands of docs/clients.md, beside the program of the folder `name` here.
 * Returns the folder below `.roster/` where it was built. The next run takes it from there, unless anything changed.
 */
export async function build(name: string, document: string, ...parts: string[]): Promise<string> {
  const [own, folder] = [join(import.meta.dirname, name), `${root}.roster/clients/openapi/${name}`]
  const commands = parts.map((part) => documentPart('clients.md', part).text.replaceAll(/^```.*$/gm, '')).join('\n')
  const files = existsSync(own) ? globSync('*', { cwd: own }).toSorted() : []
  const made = createHash('sha256').update(document).update(commands)
  for (const file of files) made.update(readFileSync(join(own, file)))
  const [stamp, inputs] = [join(folder, 'inputs.sha256'), made.digest('hex')]
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === inputs) return folder
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(dirname(folder), { recursive: true })
  if (existsSync(own)) cpSync(own, folder, { recursive: true })
  else mkdirSync(folder)
  writeFileSync(join(folder, 'openapi.json'), document)
  const options = { cwd: folder, env: environment, maxBuffer: 2 ** 26 }
  const { stdout, stderr } = await promisify(execFile)('sh', ['-ec', commands], options)
  writeFileSync(join(folder, 'said.txt'), stdout + stderr)
  writeFileSync(stamp, inputs)
  return folder
}
