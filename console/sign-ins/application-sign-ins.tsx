import type { GrantsApplicationRefusal } from '#gen/console/api'
import { useState } from 'preact/hooks'
import { useRead } from '../api/queries.ts'
import { Forbidden, isForbidden, Problem, Quiet } from '../pieces/problem.tsx'
import { common } from '../texts/common.ts'
import { Refusal } from './refusal.tsx'
import { SignInsList } from './sign-ins-list.tsx'
import { useWatching } from './use-watching.ts'
import { words } from './words.ts'

export interface ApplicationSignInsProps {
  projectId: string
  applicationId: string
}

/** Who signed in to an application, and which of its requests were refused. */
export default function ApplicationSignIns({ projectId, applicationId }: ApplicationSignInsProps) {
  const [isWatching] = useWatching()
  return (
    <div class="stack">
      <div class="card">
        <div class="title">
          <h2>{words.signIns}</h2>
        </div>
        <SignInsList applicationId={applicationId} empty={words.noneHere} every={isWatching ? 5000 : undefined} />
      </div>
      <Refusals projectId={projectId} applicationId={applicationId} every={isWatching ? 5000 : undefined} />
    </div>
  )
}

function Refusals(props: { projectId: string; applicationId: string; every: number | undefined }) {
  const { projectId, applicationId, every } = props
  const [cursors, setCursors] = useState([''])
  const cursor = cursors.at(-1)!
  const query = useRead(
    'roster.grants.v1.ApplicationService/SearchApplicationArrivals',
    { projectId, appId: applicationId, limit: 10, cursor },
    { every: cursor === '' ? every : undefined },
  )
  const refusals = query.data && (query.data.refusals ?? [])
  if (isForbidden(query.error)) return <Forbidden permission="project.app.read" />
  return (
    <div class="card watch">
      <div class="title">
        <h2>{words.refusals}</h2>
      </div>
      {query.error && <Problem error={query.error} retry={() => void query.refetch()} />}
      {refusals?.length === 0 && <Quiet>{words.noRefusal}</Quiet>}
      {refusals?.map((refusal: GrantsApplicationRefusal) => (
        <Refusal key={refusal.refusalId} projectId={projectId} applicationId={applicationId} refusal={refusal} />
      ))}
      {(cursor !== '' || query.data?.nextCursor) && (
        <div class="pager">
          <span class="grow" />
          <button disabled={cursor === ''} onClick={() => setCursors(cursors.slice(0, -1))}>
            {common.previous}
          </button>
          <button
            disabled={!query.data?.nextCursor}
            onClick={() => setCursors([...cursors, query.data?.nextCursor ?? ''])}
          >
            {common.next}
          </button>
        </div>
      )}
    </div>
  )
}
