import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import type { RosterError } from '#lib/errors'
import { readHeaders } from '../../listen/headers.ts'
import type { Exchange } from '../../listen/exchange.ts'
import { createUnderWay } from '../../rate-limits/under-way.ts'
import { method } from '#lib/rpc/methods'
import { readForm } from './read.ts'

const bytes = 1024 * 1024
const hold = createUnderWay({ inAll: 64 * bytes, perConnection: 4 * bytes }).open('public', {}, '')

const issueToken = method('roster.users.v1.OAuthService.IssueToken')

function posted(body: string): Exchange {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const request = Object.assign(Readable.from([Buffer.from(body)]), { method: 'POST', headers })
  const header = readHeaders(headers, [])
  return { request: request as unknown as IncomingMessage, header, query: '' } as Exchange
}

test.each(['%zz&', 'x&'])(
  'of a form of %j again and again no more than a hundred faults are looked for',
  async (pair) => {
    const error = (await readForm(
      posted(pair.repeat(200_000)),
      issueToken,
    )({ bytes, patience: 10_000, hold }).catch((thrown: unknown) => thrown)) as RosterError
    expect(error.reason).toBe('REQUEST_MALFORMED')
    expect(error.violations).toHaveLength(100)
  },
)
