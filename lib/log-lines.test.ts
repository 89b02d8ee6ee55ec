import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const file = fileURLToPath(new URL('./log-lines.ts', import.meta.url))
const line = (n: number) => `${n} ${'x'.repeat(200)}`
// More than a pipe holds.
const count = 5_000

// Runs a program that writes the lines and then ends. Returns what the reader of its standard output gets.
async function run(before: string, end: string): Promise<string[]> {
  const work = `const line = ${String(line)}\nfor (let n = 0; n < ${count}; n++) logLines.write(line(n) + '\\n')`
  const program = `import { logLines } from ${JSON.stringify(file)}\n${before}\n${work}\n${end}`
  const args = ['--input-type=module', '-e', program]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  const text = (await child.stdout.toArray()).join('')
  return text.split('\n').slice(0, -1)
}

const ends = {
  'comes to its end': '',
  'exits in the same tick': 'process.exit()',
  'dies of an error': "throw new Error('uncaught')",
  'exits a tick later': 'setImmediate(() => process.exit())',
}
// The getter of `process.stdout` makes it one that refuses to wait.
const outputs = { 'that waits': '', 'that does not wait': 'process.stdout' }

describe.each(Object.entries(outputs))('standard output %s', (_, before) => {
  test.each(Object.entries(ends))('gets every line, in order, of a process that %s', async (_, end) => {
    expect(await run(before, end)).toEqual(Array.from({ length: count }, (_, n) => line(n)))
  })
})

test('a process whose log is not read goes on', async () => {
  const program = `import { logLines } from ${JSON.stringify(file)}
    setInterval(() => logLines.write('line\\n'), 1).unref()
    setTimeout(() => process.exit(7), 50)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'ignore'] })
  child.stdout.destroy()
  const [code] = (await once(child, 'exit')) as [number]
  expect(code).toBe(7)
})
