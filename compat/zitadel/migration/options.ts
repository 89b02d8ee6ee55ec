import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

export interface Options {
  from: string
  fromToken: string
  to: string
  toToken: string
  /** Ids of the organizations to move. Empty: all. */
  organizations: string[]
  /** The file that remembers what is done. */
  state: string
  /** Whether roles on the instance are moved too. */
  instanceMembers: boolean
  /** The most objects of one list that are read. */
  most: number
  run: boolean
}

export const usage = `npm run migrate:zitadel -- --from URL --from-token-file FILE --to URL --to-token-file FILE [options]
  --from URL              the instance of ZITADEL, such as https://example.zitadel.cloud
  --from-token-file FILE  a personal access token of it (or in ZITADEL_TOKEN)
  --to URL                Roster
  --to-token-file FILE    a personal access token of a user with IAM_OWNER (or in ROSTER_TOKEN)
  --organization ID       moves this organization only; may come several times
  --instance-members      moves roles on the instance, too
  --state FILE            remembers there what is done (.roster/migration-from-zitadel.json)
  --most N                objects of one list that are read at most (1000000)
  --run                   moves. Without it, nothing is changed
`

/** Reads the command line. Throws one Error. */
export function readOptions(args: string[], environment: Record<string, string | undefined>): Options {
  // Not its own error for an argument without an option, which repeats it: it may be a token.
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      from: { type: 'string' },
      'from-token-file': { type: 'string' },
      to: { type: 'string' },
      'to-token-file': { type: 'string' },
      organization: { type: 'string', multiple: true, default: [] },
      'instance-members': { type: 'boolean', default: false },
      state: { type: 'string', default: '.roster/migration-from-zitadel.json' },
      most: { type: 'string', default: '1000000' },
      run: { type: 'boolean', default: false },
    },
  })
  if (positionals.length > 0) throw new Error('An argument belongs to no option.')
  const most = Number(values.most)
  if (!(Number.isSafeInteger(most) && most > 0)) throw new Error('--most must be a whole number above 0.')
  return {
    from: readUrl('--from', values.from),
    fromToken: readToken('--from-token-file', values['from-token-file'], environment['ZITADEL_TOKEN']),
    to: readUrl('--to', values.to),
    toToken: readToken('--to-token-file', values['to-token-file'], environment['ROSTER_TOKEN']),
    organizations: [...new Set(values.organization)],
    state: values.state,
    instanceMembers: values['instance-members'],
    most,
    run: values.run,
  }
}

function readUrl(name: string, text: string | undefined): string {
  if (text === undefined) throw new Error(`${name} is missing.`)
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '' || url.search !== '')
    throw new Error(`${name} must be an https address without user, password and query.`)
  const isHere = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)
  if (url.protocol === 'http:' && !isHere)
    throw new Error(`${name} must begin with https, because a token goes there. Only this machine may do without.`)
  return url.href.replace(/\/+$/, '')
}

function readToken(name: string, file: string | undefined, given: string | undefined): string {
  if (file === undefined && given === undefined) throw new Error(`${name} is missing.`)
  const token = (file === undefined ? given! : readFileSync(file, 'utf8')).trim()
  if (!/^[\x21-\x7e]+$/.test(token)) throw new Error(`${name} must name a file with one token in it.`)
  return token
}
