import { useEffect, useState } from 'preact/hooks'
import type { GrantsSearchApplicationArrivalsResponse } from '#gen/console/api'
import { useRead } from '../api/queries.ts'
import { Forbidden, isForbidden, Problem } from '../pieces/problem.tsx'
import { Checklist } from './checklist.tsx'
import { Refusal } from './refusal.tsx'
import { Steps } from './steps.tsx'
import { useWatching } from './use-watching.ts'
import { words } from './watch-words.ts'

const every = 2000
const untilChecklist = 2 * 60_000

export interface WatchSignInProps {
  projectId: string
  applicationId: string
}

/** Shows the first sign-in to an application as it arrives, and what is wrong with it. */
export default function WatchSignIn({ projectId, applicationId }: WatchSignInProps) {
  const [isWatching, goOn] = useWatching()
  const [isLate, setLate] = useState(false)
  const query = useRead(
    'roster.grants.v1.ApplicationService/SearchApplicationArrivals',
    { projectId, appId: applicationId, limit: 10 },
    { fresh: true, every: isWatching ? every : undefined },
  )
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), untilChecklist)
    return () => clearTimeout(timer)
  }, [])
  const { steps = [], refusals } = { ...query.data, refusals: unsolved(query.data) }
  const isDone = steps.some(({ kind }) => kind === 'APPLICATION_STEP_KIND_CODE_REDEEMED') && refusals.length === 0
  const isEmpty = query.data && steps.length === 0 && refusals.length === 0
  if (isForbidden(query.error)) return <Forbidden permission="project.app.read" />
  return (
    <div class="card watch">
      <div class="title">
        <h2>{words.title}</h2>
        <small role="status">{isWatching ? words.watching : words.stopped}</small>
        {!isWatching && <button onClick={goOn}>{words.watchAgain}</button>}
      </div>
      {query.error && <Problem error={query.error} retry={() => void query.refetch()} />}
      <p class="inside">{isDone ? words.done : words.waiting}</p>
      <Steps steps={steps} />
      {refusals.map((refusal) => (
        <Refusal key={refusal.refusalId} projectId={projectId} applicationId={applicationId} refusal={refusal} />
      ))}
      {isEmpty && isLate && <Checklist />}
    </div>
  )
}

/** What was refused since the application last got tokens: what came before is mended. At most three. */
function unsolved(data: GrantsSearchApplicationArrivalsResponse | undefined) {
  const redeemed = data?.steps?.find(({ kind }) => kind === 'APPLICATION_STEP_KIND_CODE_REDEEMED')?.arrivalDate
  const since = redeemed ? Date.parse(redeemed) : 0
  return (data?.refusals ?? []).filter(({ refusalDate = '' }) => Date.parse(refusalDate) > since).slice(0, 3)
}
