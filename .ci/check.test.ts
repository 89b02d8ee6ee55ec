import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'

const script = fileURLToPath(new URL('check.ts', import.meta.url))
const passes = `test('passes', () => {})`
const fails = `test('fails', () => { throw new Error('always') })`
/** What it is given fails when it is asked for the first time. */
const once = (name: string) =>
  `import { existsSync, writeFileSync } from 'node:fs'
  function first() { return !existsSync('${name}') && (writeFileSync('${name}', ''), true) }
  `

// Ten runs of Vitest, half a second each where the machine has nothing else to do.
describe('CI', { timeout: 120_000 }, () => {
  test('takes what failed and passed alone as passed, and names it before its last line', async () => {
    const files = {
      'passes.test.ts': passes,
      'test.test.ts': `${once('test')}describe('a group', () => test('is\\nlate', () => {
        if (first()) throw new Error('\\x1b[31mtoo \\u202elate\\x1b[0m ${'!'.repeat(300)}\\nsecond line') }))`,
      'import.test.ts': `${once('import')}if (first()) throw new Error('no import'); ${passes}`,
      'hook.test.ts': `${once('hook')}${passes}
        describe('a group', () => { beforeAll(() => { if (first()) throw new Error('no hook') }); ${passes} })`,
      'strays.test.ts': `${once('strays')}test('strays', async () => { if (!first()) return
        Promise.reject(new Error('a stray')); await new Promise(setImmediate); throw new Error('no end') })`,
    }
    const checks = `test -e checks || { touch checks; echo '> error'; echo 0 errors; echo 'error: out of memory'; exit 1; }`
    const { code, closing } = await ci(files, checks)
    expect(closing.slice(0, -2).toSorted()).toEqual([
      'passed alone: hook.test.ts › (the file): no hook',
      'passed alone: import.test.ts › (the file): no import',
      'passed alone: strays.test.ts › strays: no end',
      `passed alone: test.test.ts › a group > is late: too late ${'!'.repeat(191)}`,
    ])
    expect(closing.slice(-2)).toEqual(['passed alone: static checks: error: out of memory', '6 passed, 0 failed'])
    expect(code).toBe(0)
  })

  test('fails for what fails alone, too, and for what is left out alone', async () => {
    const files = {
      'always.test.ts': `${passes}\n${fails}`,
      'left-out.test.ts': `${once('left')}${passes}\ntest.runIf(first())('left out', () => { throw new Error('once') })`,
    }
    const { code, closing } = await ci(files, 'echo an error; false')
    expect(closing.toSorted()).toEqual([
      '2 passed, 3 failed, 1 skipped',
      'failed alone, too: always.test.ts › fails: always',
      'failed alone, too: left-out.test.ts › left out: it did not run',
      'failed: static checks: an error',
    ])
    expect(code).toBe(1)
  })

  test('runs nothing once more where nine files failed, and names them', async () => {
    const names = [...'abcdefghi']
    const files = names.map((name) => [
      `${name}.test.ts`,
      `${once(name)}test('once', () => { if (first()) throw new Error('once') })`,
    ])
    const { code, closing } = await ci({ ...Object.fromEntries(files), 'passes.test.ts': passes })
    expect(closing.slice(1, -1).toSorted()).toEqual(names.map((name) => `failed: ${name}.test.ts › once: once`))
    expect([closing[0], closing.at(-1)]).toEqual(['9 files failed: none runs once more', '1 passed, 9 failed'])
    expect(code).toBe(1)
  })

  test('fails for an error that no test is known to have caused', async () => {
    const stray = `test('stray', async () => { Promise.reject(new Error('stray')); await new Promise(setImmediate) })`
    const { code, closing } = await ci({ 'stray.test.ts': stray })
    expect(closing).toEqual(['failed: an unhandled error: stray', '1 passed, 1 failed'])
    expect(code).toBe(1)
  })

  test('fails where Vitest ends without a report, or with an error that it does not report', async () => {
    const config = `export default { test: { globalSetup: './setup.ts' } }`
    const setup = (text: string) => ({ 'passes.test.ts': passes, 'vitest.config.ts': config, 'setup.ts': text })
    const crashed = await ci(setup(`process.exit(0)`))
    expect(crashed).toMatchObject({
      code: 1,
      closing: ['failed: Vitest ended with 0, without a report', '0 passed, 1 failed'],
    })
    const unsaid = await ci(setup(`export function teardown() { process.exitCode = 1 }`))
    expect(unsaid).toMatchObject({
      code: 1,
      closing: ['failed: Vitest ended with 1, which no test explains', '1 passed, 1 failed'],
    })
  })
})

async function ci(files: Record<string, string>, checks = 'true') {
  const folder = await mkdtemp(join(tmpdir(), 'ci-test-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  const args = [script, checks, '--globals', '--pool=threads', '--root', folder]
  const { code, said } = await new Promise<{ code: unknown; said: string }>((end) =>
    execFile(process.execPath, args, { cwd: folder }, (error, said) => end({ code: error?.code ?? 0, said })),
  )
  const lines = said.trimEnd().split('\n')
  const isClosing = (line: string) => /^(passed alone|failed|\d+ (passed|files failed)).*/.test(line)
  return { code, closing: lines.slice(lines.findLastIndex((line) => !isClosing(line)) + 1) }
}
