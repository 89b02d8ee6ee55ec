import { X509Certificate } from 'node:crypto'
import { relative, resolve } from 'node:path'

/**
 * The text that `npm start` prints once all is up: where things are, and lines to paste into bash. README shows the
 * same lines.
 */
export function greeting(at: {
  /** Such as `http://localhost:8080`. */
  url: string
  /** In PEM, and the file that it came from; with TLS only. */
  certificate?: string | undefined
  certificateFile?: string | undefined
  adminTokenFile: string
  mailboxUrl: string | undefined
  logs: string
  cwd: string
}): string {
  const url = at.url.replace('http://', '')
  const curl = ['curl -s', ...trust(at)].join(' ')
  const token = shown(at.adminTokenFile, at.cwd)
  return `
Roster is up.

  address      ${at.url}   (JSON, gRPC, gRPC-web and Connect)
  admin token  ${token}
  mailbox      ${at.mailboxUrl ?? 'none: mails go to SMTP_URL'}
  logs         ${shown(at.logs, at.cwd)}
  sign-in      ${at.url === 'http://localhost:8080' ? '' : `ROSTER_URL=${at.url} `}npm run example   (a web server that people sign in to)
  account      ${at.url}/ui/account   (what people see of their own)

Try it: paste these lines into another terminal of this folder.

AUTH="Authorization: Bearer $(cat ${token})"; JSON='Content-Type: application/json'; N=$RANDOM
# 1. a machine user, under an id of your choice
${post(curl, `${url}/management/v1/users/machine`)} -d '{"userId":"robot-'$N'","userName":"robot-'$N'","name":"Robot"}'
# 2. a human; a verification mail goes to the address
${post(curl, `${url}/v2/users/human`)} -d '{"userId":"ada-'$N'","userName":"ada-'$N'",
  "profile":{"firstName":"Ada","lastName":"Lovelace"},"email":{"email":"ada-'$N'@example.com"}}'
# 3. the code, as soon as the mail is there
${readCode(at.mailboxUrl)}
# 4. the address is verified with the code
${curl} ${url}/v2/users/ada-$N/email/verify -H "$JSON" -d '{"verificationCode":"'$CODE'"}'

Ctrl-C stops everything.
`
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
