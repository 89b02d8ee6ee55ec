import dns, { type LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'

/** Milliseconds that a name server has to answer. For the second try it has twice as long. */
const answerWithin = 3000

/**
 * Finds the addresses of a name by this machine's hosts file and name servers. `dns.lookup` would hold a thread while a
 * name server is silent, and all callers share four threads. Rejects with an error of `node:dns`. `over` ends the
 * search.
 */
export async function resolve(name: string, over: AbortSignal): Promise<LookupAddress[]> {
  const own = await readHosts(name)
  if (own.length > 0) return own
  // A resolver for each name: it can be cancelled without the others, and it uses the current name servers.
  const resolver = new Resolver({ timeout: answerWithin, tries: 2 })
  // Call it on its object: `setServers` replaces the function.
  resolver.setServers(dns.getServers())
  const cancel = () => resolver.cancel()
  over.addEventListener('abort', cancel)
  try {
    for (const spelling of await spellings(name)) {
      over.throwIfAborted()
      const found = await ask(resolver, spelling)
      if (found.length > 0) return found
    }
  } finally {
    over.removeEventListener('abort', cancel)
  }
  throw Object.assign(new Error('There is no such name.'), { code: 'ENOTFOUND' })
}

async function ask(resolver: Resolver, name: string): Promise<LookupAddress[]> {
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  const found = answers.flatMap((answer, index) =>
    answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family: index === 0 ? 4 : 6 })) : [],
  )
  const failed = answers.find(
    (answer): answer is PromiseRejectedResult => answer.status === 'rejected' && !isAbsence(answer.reason),
  )
  if (found.length === 0 && failed) throw failed.reason
  return found
}

function isAbsence({ code }: { code?: string }): boolean {
  return code === 'ENOTFOUND' || code === 'ENODATA'
}

async function readHosts(name: string): Promise<LookupAddress[]> {
  const wanted = name.toLowerCase().replace(/\.$/, '')
  const lines = (await readOr('/etc/hosts')).split('\n').map((line) => line.replace(/#.*/, '').trim().split(/\s+/))
  const named = lines.filter(([, ...names]) => names.some((one) => one.toLowerCase() === wanted)).map(([ip]) => ip!)
  const addresses = named.length === 0 && /(^|\.)localhost$/.test(wanted) ? ['127.0.0.1', '::1'] : named
  return addresses.filter((ip) => isIP(ip) !== 0).map((address) => ({ address, family: isIP(address) }))
}

// Returns the full names to try, as the C library does: names within a cluster may be short.
async function spellings(name: string): Promise<string[]> {
  if (name.endsWith('.')) return [name]
  const settings = (await readOr('/etc/resolv.conf')).split('\n').map((line) => line.trim().split(/\s+/))
  const suffixes = settings.findLast(([key]) => key === 'search' || key === 'domain')?.slice(1) ?? []
  const options = settings.filter(([key]) => key === 'options').flat()
  const dots = Number(options.findLast((option) => option.startsWith('ndots:'))?.slice(6) ?? 1)
  const within = suffixes.filter((suffix) => suffix !== '.').map((suffix) => `${name}.${suffix}`)
  return name.split('.').length > dots ? [name, ...within] : [...within, name]
}

async function readOr(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '')
}
