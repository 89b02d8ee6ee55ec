import { useFilters, useTitle } from '../address/place.ts'
import { useNames } from '../history/use-names.ts'
import { FilterChoice } from '../list/filter-text.tsx'
import { FailuresList } from './failures-list.tsx'
import { SignInsList } from './sign-ins-list.tsx'
import { useWatching } from './use-watching.ts'
import { words } from './words.ts'

const every = 5000

/** The sign-ins of the organization: who, to what, from where, with what; and those that failed. */
export default function SignIns() {
  useTitle(words.signIns)
  const [filters, setFilters] = useFilters()
  const [isWatching, goOn] = useWatching()
  const get = (name: string) => (filters.get(name) ?? '').slice(0, 200)
  const [person, application] = [get('person'), get('application')]
  const nameOf = useNames([person])
  const clear = person || application ? () => setFilters({ person: '', application: '' }) : undefined
  const live = isWatching ? every : undefined
  return (
    <>
      <div class="head">
        <h1>{words.signIns}</h1>
        <span class="grow" />
        <small>{isWatching ? words.live : words.paused}</small>
        {!isWatching && <button onClick={goOn}>{words.goOn}</button>}
      </div>
      <div class="card">
        <div class="filters">
          <FilterChoice
            label={words.show}
            value={get('show')}
            options={{ '': words.succeeded, failed: words.failed }}
            onChange={(show) => setFilters({ show })}
          />
          {person && (
            <button class="filter set" onClick={() => setFilters({ person: '' })}>
              {words.onlyPerson}: {nameOf(person)} ✕
            </button>
          )}
          {application && (
            <button class="filter set" onClick={() => setFilters({ application: '' })}>
              {words.onlyApplication} ✕
            </button>
          )}
        </div>
        {get('show') === 'failed' ? (
          <FailuresList userId={person} every={live} clear={clear} />
        ) : (
          <SignInsList userId={person} applicationId={application} empty={words.none} every={live} clear={clear} />
        )}
      </div>
    </>
  )
}
