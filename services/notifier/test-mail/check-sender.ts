import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { type SenderCheck, SenderCheckKind, SenderCheckResult as Result } from '#gen/roster/notifier/v1/mail_service'
import type { Config } from '../config.ts'

type Settings = Pick<Config, 'MAIL_FROM' | 'MAIL_BOUNCES_ADDRESS' | 'MAIL_DKIM_SELECTOR' | 'MAIL_DNS_SERVERS'>
type Finding = Omit<SenderCheck, 'kind'>
type Problem = Pick<Finding, 'result' | 'problem'>
type Ask = (name: string) => Promise<string[]>

const longest = 1000

/** Looks what the sender's domain publishes. Takes `within` milliseconds at most. */
export async function checkSender(
  { MAIL_FROM: { domain }, MAIL_BOUNCES_ADDRESS, MAIL_DKIM_SELECTOR: selector, MAIL_DNS_SERVERS: servers }: Settings,
  within: number,
): Promise<SenderCheck[]> {
  const resolver = new Resolver({ timeout: Math.min(3000, Math.ceil(within / 2)), tries: 2 })
  if (servers.length > 0) resolver.setServers(servers)
  const over = setTimeout(() => resolver.cancel(), within)
  const ask: Ask = async (name) => {
    try {
      return (await resolver.resolveTxt(name)).map((parts) => parts.join(''))
    } catch (error) {
      if (['ENOTFOUND', 'ENODATA'].includes((error as { code?: string }).code ?? '')) return []
      throw error
    }
  }
  const isAddress = domain.startsWith('[') || isIP(domain) !== 0
  const look = async (kind: SenderCheckKind, name: string, find: () => Promise<Finding>): Promise<SenderCheck> => {
    if (isAddress) return { kind, ...notChecked("The sender's domain is an address: set MAIL_FROM.") }
    return { kind, ...(await find().catch((error: unknown) => unanswered(name, error))) }
  }
  // SPF is about the sender in the envelope.
  const envelopeDomain = MAIL_BOUNCES_ADDRESS?.split('@')[1] ?? domain
  const dkimName = `${selector}._domainkey.${domain}`
  try {
    return await Promise.all([
      look(SenderCheckKind.SENDER_CHECK_KIND_SPF, envelopeDomain, () => findSpf(ask, envelopeDomain)),
      look(SenderCheckKind.SENDER_CHECK_KIND_DKIM, dkimName, async () =>
        selector === undefined ? notChecked('MAIL_DKIM_SELECTOR is not set.') : findDkim(ask, dkimName),
      ),
      look(SenderCheckKind.SENDER_CHECK_KIND_DMARC, `_dmarc.${domain}`, () => findDmarc(ask, domain)),
    ])
  } finally {
    clearTimeout(over)
  }
}

async function findSpf(ask: Ask, domain: string): Promise<Finding> {
  const records = (await ask(domain)).filter((record) => /^v=spf1(\s|$)/i.test(record))
  return found(domain, records, (record) => {
    // RFC 7208: without a sign, it is a plus.
    if (/\s\+?all(\s|$)/i.test(record)) return faulty('It lets every server send for the domain.')
    return /\s([-~?]all|redirect=\S+)(\s|$)/i.test(record) ? sound : weak('It says nothing about other servers.')
  })
}

async function findDkim(ask: Ask, name: string): Promise<Finding> {
  const records = (await ask(name)).filter((record) => /(^|;)\s*p\s*=/i.test(record))
  return found(name, records, (record) =>
    /(^|;)\s*p\s*=\s*(;|$)/i.test(record) ? faulty('The key was revoked: it is empty.') : sound,
  )
}

// The nearest of the domain and those above it counts.
async function findDmarc(ask: Ask, domain: string): Promise<Finding> {
  const labels = domain.split('.').slice(-8)
  const names = labels.slice(0, Math.max(1, labels.length - 1)).map((_, at) => `_dmarc.${labels.slice(at).join('.')}`)
  for (const name of names) {
    const records = (await ask(name)).filter((record) => /^v\s*=\s*DMARC1\s*(;|$)/.test(record))
    if (records.length > 0)
      return found(name, records, (record) => {
        const policy = /;\s*p\s*=\s*(\w+)/i.exec(record)?.[1]?.toLowerCase() ?? ''
        if (!['none', 'quarantine', 'reject'].includes(policy)) return faulty('It has no policy (p=).')
        return policy === 'none' ? weak('Its policy is none: mails of others in this name are delivered.') : sound
      })
  }
  return found(`_dmarc.${domain}`, [], () => sound)
}

const sound: Problem = { result: Result.SENDER_CHECK_RESULT_FOUND, problem: '' }
const weak = (problem: string): Problem => ({ ...sound, problem })
const faulty = (problem: string): Problem => ({ result: Result.SENDER_CHECK_RESULT_FAULTY, problem })

function found(name: string, records: string[], judge: (record: string) => Problem): Finding {
  const record = (records[0] ?? '').replace(/[^\x20-\x7e]/g, '?').slice(0, longest)
  if (records.length > 1)
    return { name, record, ...faulty(`There are ${records.length} such records: receivers take none.`) }
  if (records.length === 0) return { name, record, result: Result.SENDER_CHECK_RESULT_MISSING, problem: '' }
  return { name, record, ...judge(records[0]!) }
}

function notChecked(problem: string): Finding {
  return { name: '', record: '', result: Result.SENDER_CHECK_RESULT_NOT_CHECKED, problem }
}

function unanswered(name: string, error: unknown): Finding {
  const { code = 'no code' } = error as { code?: string }
  const problem = `The name server did not say: ${code}.`
  return { name, record: '', result: Result.SENDER_CHECK_RESULT_UNKNOWN, problem }
}
