import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createWaits } from '#lib/health/waits'
import { silent } from '#test/support/rpc'
import { freePort } from '../../deploy/local/ports.ts'
import { onPath } from '../../deploy/local/servers/program.ts'
import { connectRedis } from './redis.ts'

const program = onPath('redis-server')

describe.skipIf(program === undefined)('through Sentinel (where redis-server is installed)', () => {
  let folder: string
  let master: ChildProcess
  let ports: [master: number, replica: number, sentinel: number]
  const running: ChildProcess[] = []

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'roster-sentinel-'))
    ports = [await freePort(0), await freePort(0), await freePort(0)]
    const common = 'bind 127.0.0.1\nsave ""\nrequirepass ofRedis\nmasterauth ofRedis\n'
    master = start('master', `${common}port ${ports[0]}\n`)
    start('replica', `${common}port ${ports[1]}\nreplicaof 127.0.0.1 ${ports[0]}\n`)
    await joined(ports[0])
    const watched = `monitor main 127.0.0.1 ${ports[0]} 1\nauth-pass main ofRedis\ndown-after-milliseconds main 1000\nfailover-timeout main 5000`
    const lines = watched.split('\n').map((line) => `sentinel ${line}\n`)
    start('sentinel', `bind 127.0.0.1\nport ${ports[2]}\nrequirepass ofSentinel\n${lines.join('')}`, '--sentinel')
  }, 60_000)
  afterAll(() => {
    for (const child of running) child.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  })

  function start(name: string, config: string, ...more: string[]): ChildProcess {
    const file = join(folder, `${name}.conf`)
    writeFileSync(file, `${config}dir ${folder}\n`)
    const child = spawn(program!, [file, ...more], { stdio: 'ignore' })
    running.push(child)
    return child
  }

  async function joined(port: number) {
    const redis = new Redis({ host: '127.0.0.1', port, password: 'ofRedis' }).on('error', () => {})
    await vi.waitFor(async () => expect(await redis.info('replication')).toContain('state=online'), { timeout: 30_000 })
    redis.disconnect()
  }

  const url = () => `redis+sentinel://:ofRedis@127.0.0.1:1,127.0.0.1:${ports[2]}/main?sentinel_password=ofSentinel`

  test('the master is found though a Sentinel is dead, and the next master after it was killed', async () => {
    const waits = createWaits(silent)
    const redis = connectRedis(url(), waits)
    onTestFinished(() => redis.disconnect())
    await redis.set('key', 'of the first master')
    await redis.wait(1, 5000)
    // As BullMQ does for its workers.
    const another = redis.duplicate()
    onTestFinished(() => another.disconnect())
    another.on('error', () => {})
    master.kill('SIGKILL')
    expect(await another.get('key')).toBe('of the first master')
    await redis.set('key', 'of the second')
    expect(await another.get('key')).toBe('of the second')
    await vi.waitFor(() => expect(waits.has('Redis')).toBe(false))
    expect(redis.options.port === ports[0]).toBe(false)
  }, 60_000)

  test('a service that finds no Sentinel waits for Redis, and says so', async () => {
    const waits = createWaits(silent)
    const redis = connectRedis('redis+sentinel://127.0.0.1:1,127.0.0.1:2/main', waits)
    onTestFinished(() => redis.disconnect())
    await vi.waitFor(() => expect(waits.has('Redis')).toBe(true))
  })
})
