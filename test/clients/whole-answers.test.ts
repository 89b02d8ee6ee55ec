import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, inject, test } from 'vitest'
import { projectRoot } from '../../deploy/local/home.ts'
import { expectOutcome } from './outcomes.ts'
import { type Road, roads } from './roads.ts'

const { adminToken } = inject('roster')
const token = { authorization: `Bearer ${adminToken}` }
const json = { 'content-type': 'application/json' }
const setEmail = '/roster.users.v1.UserService/SetEmail'
const pages = ['/healthz', '/readyz', '/openapi.json', '/docs', '/oauth/v2/keys', '/.well-known/openid-configuration']

/** A request: its verb, its path, how many braces are its body, its headers; and the status and a word of the answer. */
type Asked = [verb: string, path: string, braces: number, headers: Record<string, string>, status: number, word: string]

const asked: Asked[] = [
  ...pages.map((path): Asked => ['GET', path, 0, {}, 200, '']),
  ...pages.map((path): Asked => ['GET', path, 0, token, 200, '']),
  ['GET', '/v2/users/me', 0, {}, 401, 'TOKEN_MISSING'],
  ['GET', '/v2/users/me', 0, { authorization: 'Bearer wrong' }, 401, 'TOKEN_INVALID'],
  ['POST', '/v2/users/_search', 1_000_000, json, 401, 'TOKEN_MISSING'],
  ['POST', '/v2/users/_search', 1, { ...token, ...json }, 400, 'REQUEST_MALFORMED'],
  ['POST', '/v2/users/_search', 2_000_000, { ...token, ...json }, 413, 'REQUEST_TOO_LARGE'],
  ['POST', '/v2/sessions', 200_000, json, 413, 'REQUEST_TOO_LARGE'],
  ['POST', '/v2/sessions', 10, { 'content-type': 'text/plain' }, 415, 'CONTENT_TYPE_UNSUPPORTED'],
  ['DELETE', '/v2/sessions', 0, {}, 405, 'METHOD_NOT_ALLOWED'],
  ['POST', '/healthz', 10, json, 405, 'METHOD_NOT_ALLOWED'],
  ['GET', '/nope', 0, {}, 404, 'PATH_NOT_FOUND'],
  ['POST', '/nope', 100_000, json, 404, 'PATH_NOT_FOUND'],
  ['POST', setEmail, 100, { 'content-type': 'application/grpc-web' }, 200, 'grpc-status:16'],
  ['POST', setEmail, 100, { 'content-type': 'application/proto' }, 401, 'unauthenticated'],
]

const noGo = spawnSync('go', ['version']).status === 0 ? '' : ' (skipped: there is no Go)'
const noJava = spawnSync('java', ['-version']).status === 0 ? '' : ' (skipped: there is no Java)'

describe.each(roads())('over a road that is $name', (road) => {
  test.skipIf(noGo)(`Go's net/http reads every answer whole, over HTTP/2${noGo}`, async () => {
    const program = join(projectRoot, '.roster/go/bin/answers')
    execFileSync('go', ['build', '-o', program, join(import.meta.dirname, 'go/answers.go')])
    check(road, 'Go, net/http', await read(road, [program]), 'HTTP/2.0')
  })

  test.skipIf(noJava)(`Java's HttpClient reads every answer whole, with TLS over HTTP/2${noJava}`, async () => {
    const answers = await read(road, ['java', join(import.meta.dirname, 'java/Answers.java')])
    // Without TLS it asks for HTTP/2 by an Upgrade, which a server may ignore.
    check(road, 'Java, HttpClient', answers, road.certificate ? 'HTTP_2' : 'HTTP_1_1')
  })
})

async function read({ url, certificate }: Road, [command, ...options]: string[]): Promise<string[][]> {
  const program = spawn(command!, [...options, ...(certificate ? [certificate] : [])], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  for (const [verb, path, braces, headers] of asked)
    program.stdin.write(`${[verb, url + path, braces, ...Object.entries(headers).flat()].join('\t')}\n`)
  program.stdin.end()
  const lines = (await text(program.stdout)).trimEnd().split('\n')
  return lines.map((line) => line.split('\t'))
}

function check({ name }: Road, client: string, answers: string[][], version: string) {
  const seen = answers.map(([got, status, body = '']) => [got, status, Buffer.from(body, 'base64').toString()])
  expect(seen).toEqual(asked.map(([, , , , status, word]) => [version, String(status), expect.stringContaining(word)]))
  expectOutcome(
    { client, speaks: 'HTTP' },
    name,
    `every answer whole, HTTP/${version.startsWith('HTTP_1') ? '1.1' : '2'}`,
  )
}
