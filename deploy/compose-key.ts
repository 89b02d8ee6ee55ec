import { randomBytes } from 'node:crypto'
import { linkSync, rmSync, writeFileSync } from 'node:fs'

/** Makes the encryption key of an installation in the file that the argument names, once: a key that is there stays. */
const [file] = process.argv.slice(2)
if (file === undefined) throw new Error('Usage: node deploy/compose-key.ts <file>')
const draft = `${file}.${process.pid}.new`
writeFileSync(draft, `${randomBytes(32).toString('base64')}\n`, { mode: 0o400 })
try {
  // A link is there whole or not at all, and never takes another's place.
  linkSync(draft, file)
  console.log(`made ${file}`)
} catch (error) {
  if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
} finally {
  rmSync(draft)
}
