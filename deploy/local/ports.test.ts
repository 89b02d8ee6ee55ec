import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freePort } from './ports.ts'

test('a port that another start was given, and has not bound yet, is taken until that start ends', async () => {
  const preferred = await freePort(0)
  const other = spawn(process.execPath, ['-e', script(preferred + 1)], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [said] = await once(other.stdout, 'data')
  const given = Number(said)
  expect(given).toBeGreaterThan(preferred)
  expect(await freePort(given)).toBeGreaterThan(given)
  other.stdin.end()
  expect(await once(other, 'close')).toEqual([0, null])
  expect(await freePort(given)).toBe(given)
})

const script = (preferred: number) => `
  const { freePort } = await import(${JSON.stringify(join(import.meta.dirname, 'ports.ts'))})
  console.log(await freePort(${preferred}))
  process.stdin.resume()`
