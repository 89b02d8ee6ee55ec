import { Suspense, lazy } from 'preact/compat'
import { useRead } from '../api/queries.ts'
import { useFilters, useTitle } from '../address/place.ts'
import { useNames } from '../history/use-names.ts'
import type { Option } from '../form/picker.tsx'
import { FilterChoice } from '../list/filter-text.tsx'
import { Quiet } from '../pieces/problem.tsx'
import { AskPermission } from './ask-permission.tsx'
import { PermissionAnswer } from './permission-answer.tsx'
import { useFoundApplications, useFoundPeople } from './pick.ts'
import { SignInAnswer } from './sign-in-answer.tsx'
import { TokenAnswer } from './token-answer.tsx'
import { words } from './words.ts'

const Picker = lazy(() => import('../form/picker.tsx'))

/** Why somebody can sign in, or may do something. The question is in the address. */
export default function Explain() {
  useTitle(words.explain)
  const [filters, setFilters] = useFilters()
  const get = (name: string) => (filters.get(name) ?? '').slice(0, 200)
  const [person, application, asked, at] = [get('person'), get('application'), get('asked'), get('at')]
  const question = get('question')
  return (
    <>
      <div class="head">
        <div>
          <h1>{words.explain}</h1>
          <small>{words.intro}</small>
        </div>
      </div>
      <div class="stack">
        <div class="card">
          <div class="filters">
            <FilterChoice
              label={words.question}
              value={question}
              options={{ '': words.canSignIn, may: words.may, token: words.token }}
              onChange={(question) => setFilters({ question })}
            />
          </div>
          {question === 'token' ? (
            <TokenAnswer />
          ) : (
            <div class="asked">
              <Person id={person} onPick={(person) => setFilters({ person })} />
              {question === 'may' ? (
                <AskPermission asked={asked} at={at} onAsk={(asked, at) => setFilters({ asked, at })} />
              ) : (
                <Application id={application} onPick={(application) => setFilters({ application })} />
              )}
            </div>
          )}
        </div>
        {question === 'token' ? null : question === 'may' ? (
          <May person={person} asked={asked} at={at} />
        ) : (
          <CanSignIn person={person} application={application} />
        )}
      </div>
    </>
  )
}

function May({ person, asked, at }: { person: string; asked: string; at: string }) {
  if (!person || !asked) return <Quiet>{person ? words.choosePermission : words.choosePerson}</Quiet>
  return <PermissionAnswer key={`${person} ${asked} ${at}`} userId={person} asked={asked} at={at} />
}

function CanSignIn({ person, application }: { person: string; application: string }) {
  const name = useApplicationName(application)
  if (!person || !application) return <Quiet>{person ? words.chooseApplication : words.choosePerson}</Quiet>
  return (
    <SignInAnswer
      key={`${person} ${application}`}
      userId={person}
      applicationId={application}
      applicationName={name || application}
    />
  )
}

function Person({ id, onPick }: { id: string; onPick: (id: string) => void }) {
  const nameOf = useNames([id])
  const name = id && nameOf(id)
  return <Chosen label={words.who} find={words.findPerson} name={name} useOptions={useFoundPeople} onPick={onPick} />
}

function Application({ id, onPick }: { id: string; onPick: (id: string) => void }) {
  const name = useApplicationName(id)
  return (
    <Chosen
      label={words.application}
      find={words.findApplication}
      name={id && (name || id)}
      useOptions={useFoundApplications}
      onPick={onPick}
    />
  )
}

function useApplicationName(appId: string): string {
  const { data } = useRead(
    'roster.grants.v1.ApplicationService/GetApplication',
    { appId },
    { enabled: appId !== '', fresh: true },
  )
  return data?.application?.name ?? ''
}

interface ChosenProps {
  label: string
  find: string
  name: string
  useOptions: (text: string) => { options: Option[] | undefined; isFetching: boolean }
  onPick: (id: string) => void
}

function Chosen({ label, find, name, useOptions, onPick }: ChosenProps) {
  if (name)
    return (
      <p>
        <small>{label}</small> <strong>{name}</strong>{' '}
        <button aria-label={`${label}: ${words.change}`} onClick={() => onPick('')}>
          {words.change}
        </button>
      </p>
    )
  return (
    <Suspense fallback={null}>
      <Picker label={find} useOptions={useOptions} onPick={({ id }) => onPick(id)} />
    </Suspense>
  )
}
