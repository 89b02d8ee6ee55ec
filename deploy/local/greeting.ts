import { X509Certificate } from 'node:crypto'
import { dirname, join, relative, resolve } from 'node:path'
import type { Moved } from './servers.ts'
import type { ServiceName } from './service-environment.ts'

/**
 * The text that `npm start` prints once all is up: where things are, and lines to paste into bash. README shows the
 * same lines.
 */
export function greeting(at: {
  /** Such as `http://localhost:8080`. */
  url: string
  /** The address that people have of it. */
  publicUrl: string
  /** In PEM, and the file that it came from; with TLS only. */
  certificate?: string | undefined
  certificateFile?: string | undefined
  adminTokenFile: string
  /** Of the first administrator, as it was made. Undefined where ROSTER_ADMIN_PASSWORD gave it. */
  adminPassword?: string | undefined
  mailboxUrl: string | undefined
  metricsPorts?: Record<ServiceName, number> | undefined
  moved: Moved[]
  logs: string
  cwd: string
}): string {
  const url = at.url.replace('http://', '')
  const curl = ['curl -s', ...trust(at)].join(' ')
  const token = shown(at.adminTokenFile, at.cwd)
  return `
Roster is up.

  address        ${at.url}   (JSON, gRPC, gRPC-web and Connect)
  administrator  admin, ${passwordOf(at)}
  admin token    ${token}
  console        ${at.publicUrl}/ui/console   (administrators: people, applications, sign-ins)
  account        ${at.publicUrl}/ui/account   (people sign in, and see what is theirs)
  the API        ${at.publicUrl}/docs   (to read, and to try)
  mailbox        ${at.mailboxUrl ?? 'none: mails go to SMTP_URL'}
  metrics        ${metricsOf(at.metricsPorts)}
  logs           ${shown(at.logs, at.cwd)}${at.moved.map(place).join('')}

In another terminal of this folder:

  npm run example             a web server that people sign in to
  npm run example -- page     a page in the browser, and an API that it calls
  npm run roster -- status    what runs, and what waits

Before others use it, let administrators need a second factor: docs/operations.md#before-others-use-it

Or paste these lines:

AUTH="Authorization: Bearer $(cat ${token})"; JSON='Content-Type: application/json'; N=$RANDOM
# 1. a machine user, under an id of your choice
${post(curl, `${url}/management/v1/users/machine`)} -d '{"userId":"robot-'$N'","userName":"robot-'$N'","name":"Robot"}'
# 2. a human without a password; an invitation to choose one goes to the address
${post(curl, `${url}/v2/users/human`)} -d '{"userId":"ada-'$N'","userName":"ada-'$N'",
  "profile":{"firstName":"Ada","lastName":"Lovelace"},"email":{"email":"ada-'$N'@example.com"}}'
# 3. the code, as soon as the mail is there
${readCode(at.mailboxUrl)}
# 4. the address is verified with the code
${curl} ${url}/v2/users/ada-$N/email/verify -H "$JSON" -d '{"verificationCode":"'$CODE'"}'

Ctrl-C stops everything.
`
}

// Whoever reads the output of one that is reached from elsewhere, such as a log, need not be an administrator.
function passwordOf({ publicUrl, adminPassword, adminTokenFile, cwd }: Parameters<typeof greeting>[0]): string {
  const file = shown(join(dirname(adminTokenFile), 'admin-password'), cwd)
  if (adminPassword === undefined) return `with a password that is not in ${file}`
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(new URL(publicUrl).hostname)
  return `with the password ${isLocal ? `${adminPassword}   (${file}, until it is changed)` : `in ${file}`}`
}

function metricsOf(ports: Record<ServiceName, number> | undefined): string {
  if (!ports) return 'off   (on: OTEL_METRICS_EXPORTER=prometheus npm start)'
  const each = Object.entries(ports).map(([name, port]) => `http://localhost:${port}/metrics   (${name})`)
  return each.join(`\n${' '.repeat(17)}`)
}

function place({ name, usual, port }: Moved): string {
  return `\n  moved          ${name} to port ${port}: another program holds ${usual}`
}

// A file may also have been given by its content, and a certificate need not name this machine.
function trust({ certificate, certificateFile, cwd }: Parameters<typeof greeting>[0]): string[] {
  if (certificate === undefined) return []
  const named = new X509Certificate(certificate).checkHost('localhost') !== undefined
  return [named && certificateFile ? `--cacert ${shown(resolve(cwd, certificateFile), cwd)}` : '--insecure']
}

function post(curl: string, address: string): string {
  return `${curl} ${address} -H "$AUTH" -H "$JSON"`
}

function readCode(mailboxUrl: string | undefined): string {
  if (mailboxUrl === undefined) return "read -p 'The code in the mail: ' CODE"
  const mail = `"${mailboxUrl.replace('http://', '')}/view/latest.txt?query=to:ada-$N@example.com"`
  return `CODE=; until [ "$CODE" ]; do sleep 1; CODE=$(curl -s ${mail} | sed -n 's/.*code=\\([A-Z0-9]*\\).*/\\1/p'); done`
}

function shown(path: string, cwd: string): string {
  const near = relative(cwd, path)
  const short = near.startsWith('..') ? path : near
  return /^[\w./-]+$/.test(short) ? short : `'${short.replaceAll("'", `'\\''`)}'`
}
