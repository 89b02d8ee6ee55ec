import { relative } from 'node:path'

/** What `npm start` prints once all is up: where things are, and four lines to paste into bash. */
export function greeting(at: {
  port: number
  adminTokenFile: string
  mailboxUrl: string | undefined
  logs: string
  cwd: string
}): string {
  const url = `http://localhost:${at.port}`
  const token = shown(at.adminTokenFile, at.cwd)
  const post = (path: string, body: string) =>
    `curl -sS ${url}${path} -H "Authorization: Bearer $(cat ${token})" -H 'Content-Type: application/json' -d ${body}`
  const human = `'{"userName":"ada-'$N'","profile":{"firstName":"Ada","lastName":"Lovelace"},"email":{"email":"ada-'$N'@example.com"}}'`
  return `
Roster is up.

  address      ${url}   (JSON, gRPC and gRPC-web)
  admin token  ${token}
  mailbox      ${at.mailboxUrl ?? 'none: mails go to SMTP_URL'}
  logs         ${shown(at.logs, at.cwd)}

Try it: create a machine user; create a human with a mail address; read the code in the mail; verify the address.

${post('/management/v1/users/machine', `'{"userName":"robot-'$RANDOM$RANDOM'","name":"Robot"}' -w '\\n'`)}
N=$RANDOM$RANDOM; USER_ID=$(${post('/v2/users/human', human)} | grep -o '"userId": *"[^"]*"' | cut -d'"' -f4); echo "user $USER_ID"
${readCode(at.mailboxUrl)}; echo "code $CODE"
${post('/v2/users/$USER_ID/email/verify', `'{"verificationCode":"'$CODE'"}' -w '\\n'`)}

Ctrl-C stops everything.
`
}

// The mail follows within a second or so; the code stands on a line of its own in the text part.
function readCode(mailboxUrl: string | undefined): string {
  if (mailboxUrl === undefined) return "read -p 'The code in the mail: ' CODE"
  const id = `ID=$(curl -sS "${mailboxUrl}/api/v1/search?query=to:ada-$N@example.com" | grep -o '"ID":"[^"]*"' | head -n 1 | cut -d'"' -f4)`
  const code = `CODE=$(curl -sS "${mailboxUrl}/view/$ID.txt" | tr -d '\\r' | grep -xE ' *[A-Z0-9]{6} *' | tr -d ' ')`
  return `for i in {1..50}; do ${id}; ${code}; [ "$CODE" ] && break; sleep 0.2; done`
}

function shown(path: string, cwd: string): string {
  const near = relative(cwd, path)
  const short = near.startsWith('..') ? path : near
  return /^[\w./-]+$/.test(short) ? short : `'${short.replaceAll("'", `'\\''`)}'`
}
