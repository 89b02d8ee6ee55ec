import { Link } from 'wouter-preact'
import type { UsersSignInGround } from '#gen/console/api'
import { useHere } from '../address/place.ts'
import { Time } from '../pieces/time.tsx'
import { sayGround } from './reasons.ts'
import { words } from './words.ts'

interface GroundsProps {
  grounds: UsersSignInGround[]
  userId: string
}

/** Reasons, each with the place where it is changed. */
export function Grounds({ grounds, userId }: GroundsProps) {
  const here = useHere()
  return (
    <ul class="line">
      {grounds.map((ground) => {
        const place = placeOf(ground, userId)
        return (
          <li key={ground.reason}>
            {sayGround(ground)}
            {ground.until && (
              <small>
                {words.until} <Time at={ground.until} />
              </small>
            )}
            {place && (
              <small>
                <Link href={here(place)}>{words.mend}</Link>
              </small>
            )}
          </li>
        )
      })}
    </ul>
  )
}

// What is about the person is changed at the person: a lock, an address, a factor, a session.
function placeOf({ objectType = '', objectId = '' }: UsersSignInGround, userId: string): string | undefined {
  const id = encodeURIComponent(objectId)
  switch (objectType) {
    case 'user':
      return `/people/${id}`
    case 'session':
    case 'user.consent':
    case 'authorization':
      return `/people/${encodeURIComponent(userId)}/sign-in`
    case 'application':
      return `/applications/${id}`
    case 'project':
      return `/projects/${id}/access`
    case 'idp':
      return `/providers/${id}`
    case 'organization':
      return '/organization'
    default:
      return undefined
  }
}
