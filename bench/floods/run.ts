// `npm run bench -- --only Floods [--beside FOLDER]`: floods each parser in front of the token from another process, and
// measures what that costs, and how long others wait for /healthz meanwhile. Prints the table of docs/limits.md.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { request as requestTls } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { makeCertificate } from '../../services/gateway/testing/certificate.ts'
import { cpuTimes } from '../cpu.ts'
import type { Options } from '../options.ts'
import { median } from '../speed/measure.ts'
import { startSystem, type System } from '../system.ts'
import { type Flood, floods, keyOf } from './kinds.ts'

interface Measured {
  kilobytes: number
  /** Microseconds of the gateway, and of all services, for each kilobyte. */
  gateway: number
  services: number
  quiet: number
  meanwhile: number
  worst: number
}

/** Prints the table; with `beside`, each row of the other code below the own. Returns no problems: it shows facts. */
export async function measureFloods({ beside, seconds }: Options): Promise<string[]> {
  const certificate = makeCertificate()
  const roots = [undefined, ...(beside ? [beside] : [])]
  try {
    console.log(
      '\n| parser | flood | code | kB a second | gateway, µs/kB | all services, µs/kB | others, ms: before | meanwhile | longest |',
    )
    console.log('|---|---|---|---:|---:|---:|---:|---:|---:|')
    for (const isTls of [false, true]) {
      const systems = await startAll(
        roots,
        isTls ? { TLS_CERT_FILE: certificate.cert, TLS_KEY_FILE: certificate.key } : {},
      )
      try {
        for (const flood of floods.filter(({ tls = false }) => tls === isTls))
          for (const [at, system] of systems.entries())
            console.log(row(flood, at === 0 ? 'this' : 'beside', await measureOne(system, flood, seconds)))
      } finally {
        for (const system of systems) await system.stop()
      }
    }
    return []
  } finally {
    certificate.remove()
  }
}

async function startAll(roots: (string | undefined)[], settings: Record<string, string>): Promise<System[]> {
  const systems: System[] = []
  for (const root of roots) systems.push(await startSystem({ root, settings: { ...settings, LOG_LEVEL: 'error' } }))
  return systems
}

async function measureOne(system: System, flood: Flood, seconds: number): Promise<Measured> {
  const url = new URL(system.urls[0]!)
  const services = ['gateway', 'users', 'grants'].map((name) => system.pids[name]![0]!)
  const quiet = await timesOf(url, 1_000)
  const [before, read] = [cpuTimes(services), bytesRead(services[0]!)]
  const program = fileURLToPath(new URL('flood.ts', import.meta.url))
  const child = spawn(process.execPath, [program, url.port, keyOf(flood), String(seconds)], {
    stdio: 'inherit',
  })
  const ended = once(child, 'exit')
  // The process needs a moment to start.
  await sleep(500)
  const meanwhile = await timesOf(url, seconds * 1000 - 500)
  await ended
  // What is still in the buffers of its sockets is parsed, too.
  await timesOf(url, 200)
  const spent = cpuTimes(services).map((time, at) => time - before[at]!)
  const kilobytes = (bytesRead(services[0]!) - read) / 1000
  return {
    kilobytes: kilobytes / seconds,
    gateway: spent[0]! / kilobytes,
    services: spent.reduce((sum, each) => sum + each, 0) / kilobytes,
    quiet: median(quiet),
    meanwhile: median(meanwhile),
    worst: Math.max(...meanwhile),
  }
}

/**
 * How long strangers wait for /healthz, each over a new connection, in milliseconds. One asks every 20 ms, whether or not
 * those before have an answer: else a stall would count once, however many it keeps waiting.
 */
async function timesOf(url: URL, duration: number): Promise<number[]> {
  const asked: Promise<number>[] = []
  const until = performance.now() + duration
  while (performance.now() < until) {
    asked.push(timeOf(url))
    await sleep(20)
  }
  return Promise.all(asked)
}

/** Infinity where no answer came. */
function timeOf(url: URL): Promise<number> {
  const ask = url.protocol === 'https:' ? requestTls : request
  const began = performance.now()
  const { promise, resolve } = Promise.withResolvers<number>()
  const options = { agent: false, rejectUnauthorized: false } as const
  ask(new URL('/healthz', url), options, (answer) =>
    answer.resume().on('end', () => resolve(performance.now() - began)),
  )
    .on('error', () => resolve(Infinity))
    .end()
  return promise
}

/** Bytes that a process has read, sockets included. */
function bytesRead(pid: number): number {
  return Number(/^rchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'latin1'))![1])
}

function row({ parser, name }: Flood, code: string, measured: Measured): string {
  const { kilobytes, gateway, services, quiet, meanwhile, worst } = measured
  const cells = [kilobytes, gateway, services].map((value) => value.toFixed(value < 10 ? 1 : 0))
  return `| ${[parser, name, code, ...cells, ...[quiet, meanwhile, worst].map((value) => value.toFixed(1))].join(' | ')} |`
}
