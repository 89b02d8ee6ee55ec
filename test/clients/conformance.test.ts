import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectPart } from '../support/expect-part.ts'
import { build, unlessThereIs } from './build.ts'
import { exceptions } from './conformance/exceptions.ts'
import { startGateways } from './conformance/start-gateways.ts'

const [module, version] = ['connectrpc.com/conformance', 'v1.0.7']
const commands = `GOBIN="$PWD" go install ${module}/cmd/connectconformance@${version}
go mod download -json ${module}@${version} >source.json
buf build "$(node -p "require('./source.json').Dir")" --exclude-source-info -o suite.binpb`
const noGo = unlessThereIs('go')

/** What Roster offers, in the suite's words. */
const offered = {
  features: {
    versions: ['HTTP_VERSION_1', 'HTTP_VERSION_2'],
    protocols: ['PROTOCOL_CONNECT', 'PROTOCOL_GRPC', 'PROTOCOL_GRPC_WEB'],
    codecs: ['CODEC_PROTO', 'CODEC_JSON'],
    compressions: ['COMPRESSION_IDENTITY', 'COMPRESSION_GZIP'],
    streamTypes: ['STREAM_TYPE_UNARY', 'STREAM_TYPE_SERVER_STREAM'],
  },
  includeCases: ['PROTOCOL_GRPC', 'PROTOCOL_GRPC_WEB'].map((protocol) => ({
    protocol,
    codec: 'CODEC_PROTO',
    compression: 'COMPRESSION_DEFLATE',
  })),
  excludeCases: ['PROTOCOL_GRPC', 'PROTOCOL_GRPC_WEB'].map((protocol) => ({ protocol, codec: 'CODEC_JSON' })),
}

describe.skipIf(noGo)(`Connect's conformance suite${noGo}`, () => {
  let folder: string
  let suite: string
  let gateways: Awaited<ReturnType<typeof startGateways>> | undefined

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'roster-conformance-'))
    const built = await build('go-programs/connectconformance', {}, commands)
    suite = join(built, 'connectconformance')
    writeFileSync(join(folder, 'configuration.yaml'), JSON.stringify(offered))
    gateways = await startGateways(folder, join(built, 'suite.binpb'))
  })

  afterAll(async () => {
    await gateways?.stop()
    rmSync(folder, { recursive: true })
  })

  test('passes, but for the exceptions with a reason', async () => {
    const known = exceptions.flatMap(({ cases }) => ['--known-failing', cases])
    // The suite starts this command as a server. It sends a certificate where it wants TLS.
    const server = ['sh', '-c', 'if grep -qa CERTIFICATE; then cat tls; else cat plain; fi; exec sleep 600']
    const { failed, output } = await run([
      '--mode',
      'server',
      '--conf',
      'configuration.yaml',
      ...known,
      '--',
      ...server,
    ])
    const unexpected = output.split(/^(?=FAILED|INFO|Total)/m).filter((part) => !part.startsWith('INFO'))
    expect(failed, unexpected.join('')).toBe(false)

    const [, total, passed] = /^Total cases: (\d+)\n(\d+) passed/m.exec(output)!
    const rows = exceptions.map(({ cases, reason }) => `| \`${cases}\` | ${countOf(cases, output)} | ${reason} |`)
    const sentence = `${passed} of ${total} cases pass. The others:`
    const text = [sentence, '', '| cases | number | reason |', '|---|---|---|', ...rows].join('\n')
    expectPart('clients.md', 'conformance', text)
  })

  async function run(args: string[]): Promise<{ failed: boolean; output: string }> {
    const running = promisify(execFile)(suite, args, { cwd: folder, maxBuffer: 2 ** 28 })
    return running.then(
      ({ stdout }) => ({ failed: false, output: stdout }),
      ({ stdout, stderr }) => ({ failed: true, output: `${stdout}${stderr}` }),
    )
  }
})

// In a pattern of the suite, `**` stands for any number of parts of a name.
function countOf(cases: string, output: string): number {
  const name = cases.replaceAll(/[()]/g, '\\$&').replaceAll('/**/', '/(.*/)?')
  return output.match(new RegExp(`^INFO: ${name} failed`, 'gm'))?.length ?? 0
}
