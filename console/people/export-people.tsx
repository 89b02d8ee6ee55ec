import { useRef, useState } from 'preact/hooks'
import type { UsersSearchUsersRequest, UsersUser } from '#gen/console/api'
import { call } from '../api/call.ts'
import { useOrganization } from '../address/place.ts'
import { Dialog } from '../pieces/dialog.tsx'
import { Problem } from '../pieces/problem.tsx'
import { common } from '../texts/common.ts'
import { texts } from '../texts/texts.ts'
import { factorsOf, nameOf } from './about-person.tsx'
import { csvOf } from './csv.ts'
import { states, words } from './words.ts'

const t = texts(
  {
    title: 'Save as CSV',
    count: (count: number) => `${count} people so far`,
    done: (count: number) => `${count} people are in the file.`,
  },
  {
    title: 'Als CSV speichern',
    count: (count) => `${count} Personen bisher`,
    done: (count) => `${count} Personen stehen in der Datei.`,
  },
)

/** Saves all people that the filters let pass, page after page. */
export function ExportPeople({ request }: { request: UsersSearchUsersRequest }) {
  const organization = useOrganization()
  const [count, setCount] = useState<number>()
  const [isDone, setDone] = useState(false)
  const [error, setError] = useState<Error>()
  const ended = useRef<AbortController>()
  const close = () => {
    ended.current?.abort()
    setCount(undefined)
  }
  const begin = async () => {
    setError(undefined)
    setDone(false)
    setCount(0)
    const { signal } = (ended.current = new AbortController())
    try {
      const parts = [csvOf([heading])]
      let cursor = ''
      let all = 0
      do {
        const page = await call(method, { ...request, limit: 1000, cursor }, { organization, signal })
        const users = page.users ?? []
        parts.push(csvOf(users.map(rowOf)))
        setCount((all += users.length))
        cursor = page.nextCursor ?? ''
      } while (cursor !== '')
      save(parts)
      setDone(true)
    } catch (cause) {
      if (!signal.aborted) setError(cause as Error)
    }
  }
  return (
    <>
      <button onClick={() => void begin()}>CSV</button>
      {count !== undefined && (
        <Dialog title={t.title} onClose={close}>
          <p role="status">{isDone ? t.done(count) : t.count(count)}</p>
          {error && <Problem error={error} retry={() => void begin()} />}
          <div class="actions">
            <button onClick={close}>{isDone ? common.close : common.cancel}</button>
          </div>
        </Dialog>
      )}
    </>
  )
}

const method = 'roster.users.v1.UserService/SearchUsers'
const heading = [
  'Id',
  words.name,
  words.email,
  words.userName,
  words.state,
  words.factors,
  words.lastSignIn,
  words.created,
]

function rowOf(user: UsersUser): string[] {
  const { userId = '', userName = '', human, state = 'USER_STATE_UNSPECIFIED', lastSignInDate = '', details } = user
  const email = human?.email?.email ?? ''
  const shown = states[state]?.text ?? state
  return [userId, nameOf(user), email, userName, shown, factorsOf(user), lastSignInDate, details?.creationDate ?? '']
}

function save(parts: string[]) {
  // The mark tells spreadsheets that it is UTF-8.
  const url = URL.createObjectURL(new Blob(['\u{FEFF}', ...parts], { type: 'text/csv' }))
  const link = document.createElement('a')
  link.href = url
  link.download = 'people.csv'
  link.click()
  URL.revokeObjectURL(url)
}
