import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createSecureServer, createServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { makeCertificate } from '../../services/gateway/testing/certificate.ts'
import { elsewhere, installGo, unlessThereIs } from './build.ts'
import { type Road, roads } from './roads.ts'

/** What fails at Roster, and at a bare server of Node does not. */
const exceptions: Record<Road['name'], string[]> = {
  // A connection that begins otherwise is HTTP/1.1 on this port, and gets the answer 400 before it ends.
  plain: ['http2/3.5 Sends invalid connection preface'],
  TLS: [],
  'behind nginx': [],
}

const source = 'github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible'
const why = elsewhere || unlessThereIs('go')

describe.each(roads().filter(({ name }) => name !== 'behind nginx'))('h2spec over a road that is $name', (road) => {
  test.skipIf(why)(`finds no more at Roster than at a bare server of Node, but for the exceptions${why}`, async () => {
    const h2spec = await installGo(source)
    const isTls = road.certificate !== ''
    const ofRoster = () => failures(h2spec, new URL(road.url).port, isTls)
    // Side by side: most cases wait for what must not come.
    const [bare, first] = await Promise.all([failures(h2spec, await startBare(isTls), isTls), ofRoster()])
    expect(bare.cases).toBeGreaterThan(140)
    const beside = (own: typeof bare) => {
      expect(own.cases).toBe(bare.cases)
      return own.failed.filter((one) => !bare.failed.includes(one))
    }
    let more = beside(first)
    // Some cases race with the answer, at the bare server too. These do not fail every time.
    for (let times = 0; times < 2 && more.length > exceptions[road.name].length; times++) {
      const again = beside(await ofRoster())
      more = more.filter((one) => again.includes(one))
    }
    expect(more).toEqual(exceptions[road.name])
  })
})

async function startBare(isTls: boolean): Promise<string> {
  const answer = (_request: Http2ServerRequest, response: Http2ServerResponse) => response.end('{"status":"ok"}')
  const { cert, key, remove } = makeCertificate()
  const server = isTls
    ? createSecureServer({ cert: readFileSync(cert), key: readFileSync(key) }, answer)
    : createServer(answer)
  remove()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return String((server.address() as AddressInfo).port)
}

/** Runs all cases, and returns those that fail, such as `http2/6.7 Sends a PING frame with ACK`. */
async function failures(h2spec: string, port: string, isTls: boolean): Promise<{ cases: number; failed: string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'roster-h2spec-'))
  const report = join(folder, 'report.xml')
  const options = [
    '-h',
    'localhost',
    '-p',
    port,
    '-P',
    '/healthz',
    '-o',
    '4',
    '-j',
    report,
    ...(isTls ? ['-t', '-k'] : []),
  ]
  // It exits with 1 where a case fails.
  await new Promise((resolve) => execFile(h2spec, options, { maxBuffer: 2 ** 26 }, resolve))
  const cases = [
    ...readFileSync(report, 'utf8').matchAll(/<testcase package="(.*?)" classname="(.*?)"[^]*?<\/testcase>/g),
  ]
  rmSync(folder, { recursive: true })
  const failed = cases.filter(([text]) => /<(failure|error)/.test(text))
  return { cases: cases.length, failed: failed.map(([, section, title]) => `${section} ${title}`) }
}
