import { useState } from 'preact/hooks'
import type { UsersUser } from '#gen/console/api'
import { ApiError } from '../api/errors.ts'
import { write } from '../api/call.ts'
import { readAgain } from '../api/queries.ts'
import { useOrganization } from '../address/place.ts'
import { Dialog } from '../pieces/dialog.tsx'
import { sayError } from '../pieces/problem.tsx'
import { common } from '../texts/common.ts'
import { texts } from '../texts/texts.ts'
import { nameOf } from './about-person.tsx'
import { words } from './words.ts'

const t = texts(
  {
    chosen: (count: number) => (count === 1 ? '1 person chosen' : `${count} people chosen`),
    clear: 'Choose nobody',
    lock: 'Lock',
    unlock: 'Unlock',
    deactivate: 'Deactivate',
    reactivate: 'Reactivate',
    ask: (what: string, count: number) => `${what} ${count === 1 ? '1 person' : `${count} people`}?`,
    text: 'Each is done by itself. What is refused for one does not hinder the others.',
    progress: (done: number, all: number) => `${done} of ${all}`,
    result: 'Result',
    results: 'Results',
    done: 'done',
    stopped: 'not tried',
  },
  {
    chosen: (count) => (count === 1 ? '1 Person gewählt' : `${count} Personen gewählt`),
    clear: 'Niemanden wählen',
    lock: 'Sperren',
    unlock: 'Entsperren',
    deactivate: 'Deaktivieren',
    reactivate: 'Aktivieren',
    ask: (what, count) => `${count === 1 ? '1 Person' : `${count} Personen`}: ${what}?`,
    text: 'Jede für sich. Was bei einer abgelehnt wird, hindert die anderen nicht.',
    progress: (done, all) => `${done} von ${all}`,
    result: 'Ergebnis',
    results: 'Ergebnisse',
    done: 'getan',
    stopped: 'nicht versucht',
  },
)

const acts = {
  lock: 'roster.users.v1.UserService/LockUser',
  unlock: 'roster.users.v1.UserService/UnlockUser',
  deactivate: 'roster.users.v1.UserService/DeactivateUser',
  reactivate: 'roster.users.v1.UserService/ReactivateUser',
} as const

/** What can be done with the people that were chosen. */
export function Bulk({ users, clear }: { users: UsersUser[]; clear: () => void }) {
  const [asked, setAsked] = useState<keyof typeof acts>()
  return (
    <div class="bulk">
      <span role="status">{t.chosen(users.length)}</span>
      {(Object.keys(acts) as (keyof typeof acts)[]).map((act) => (
        <button key={act} class={act === 'lock' ? 'danger' : undefined} onClick={() => setAsked(act)}>
          {t[act]}
        </button>
      ))}
      <button class="plain" onClick={clear}>
        {t.clear}
      </button>
      {asked && <Acting act={asked} users={users} onClose={() => setAsked(undefined)} />}
    </div>
  )
}

function Acting({ act, users, onClose }: { act: keyof typeof acts; users: UsersUser[]; onClose: () => void }) {
  const organization = useOrganization()
  const [results, setResults] = useState<string[]>()
  const [isBusy, setBusy] = useState(false)
  const begin = async () => {
    setBusy(true)
    const found: string[] = []
    for (const { userId = '' } of users) {
      const error = await write(acts[act], { userId }, { organization }).then(
        () => undefined,
        (cause: Error) => cause,
      )
      found.push(error ? sayError(error) : t.done)
      setResults([...found])
      // Without a sign-in, or a network, all others would fail alike.
      if (
        error instanceof ApiError &&
        ['FACTOR_NOT_FRESH', 'CONSOLE_SESSION_ENDED', 'UNREACHABLE'].includes(error.reason)
      )
        break
    }
    await readAgain()
    setBusy(false)
  }
  return (
    <Dialog firm={isBusy} title={t.ask(t[act], users.length)} onClose={onClose}>
      <p role="status">{results ? t.progress(results.length, users.length) : t.text}</p>
      {results && (
        <div class="scrolls" tabIndex={0} role="region" aria-label={t.results}>
          <table aria-label={t.results}>
            <thead>
              <tr>
                <th scope="col">{words.name}</th>
                <th scope="col">{t.result}</th>
              </tr>
            </thead>
            <tbody>
              {users.map((user, index) => (
                <tr key={user.userId}>
                  <td>{nameOf(user)}</td>
                  <td>{results[index] ?? (isBusy ? '' : t.stopped)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <div class="actions">
        <button disabled={isBusy} onClick={onClose}>
          {results ? common.close : common.cancel}
        </button>
        {!results && (
          <button class="danger" disabled={isBusy} onClick={() => void begin()}>
            {t[act]}
          </button>
        )}
      </div>
    </Dialog>
  )
}
