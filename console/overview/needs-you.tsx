import { Link } from 'wouter-preact'
import { useHere, useOrganization } from '../address/place.ts'
import { write } from '../api/call.ts'
import { readAgain } from '../api/queries.ts'
import { Problem, Quiet } from '../pieces/problem.tsx'
import { say, sayProblem } from '../pieces/notices.tsx'
import type { Need } from './need.ts'
import { useBareOwners } from './use-bare-owners.ts'
import { useEndingMachineCredentials, useEndingSecrets } from './use-ending-credentials.ts'
import { useFailedWebhooks } from './use-failed-webhooks.ts'
import { useLostMails } from './use-lost-mails.ts'
import { words } from './words.ts'

/** What waits for somebody, each with where it is mended. Only what the person may read is asked. */
export function NeedsYou() {
  const parts = [
    useFailedWebhooks(),
    useLostMails(),
    useEndingSecrets(),
    useEndingMachineCredentials(),
    useBareOwners(),
  ]
  const asked = parts.filter(({ mayRead }) => mayRead)
  const needs = asked.flatMap(({ needs }) => needs ?? [])
  const error = asked.find(({ error }) => error)?.error
  const isKnown = parts.every(({ mayRead, needs }) => mayRead === false || needs)
  return (
    <div class="card needs">
      <div class="title">
        <h2>{words.needs}</h2>
      </div>
      {error && <Problem error={error} retry={() => void readAgain()} />}
      {isKnown && needs.length === 0 && <Quiet>{asked.length === 0 ? words.notAsked : words.nothing}</Quiet>}
      {needs.length > 0 && (
        <ul class="line">
          {needs.map((need) => (
            <li key={need.key}>
              <What need={need} /> {need.reason && <small>{need.reason}</small>} <Mend need={need} />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function What({ need: { text, path } }: { need: Need }) {
  const here = useHere()
  return path ? <Link href={here(path)}>{text}</Link> : <>{text}</>
}

function Mend({ need: { text, webhookId } }: { need: Need }) {
  const organization = useOrganization()
  if (!webhookId) return null
  const replay = async () => {
    const method = 'roster.notifier.v1.DeliveryService/ReplayFailedDeliveries'
    await write(method, { webhookId }, { organization })
    await readAgain()
    say(words.replayed)
  }
  return (
    <button aria-label={`${words.replay}: ${text}`} onClick={() => void replay().catch(sayProblem)}>
      {words.replay}
    </button>
  )
}
