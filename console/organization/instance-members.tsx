import { useTitle } from '../address/place.ts'
import { Members } from '../members/members.tsx'
import { ofInstance } from '../members/place.ts'
import { words } from './words.ts'

/** Who has roles on the instance, which count in every organization. */
export default function InstanceMembers() {
  useTitle(words.instanceMembers)
  return (
    <>
      <div class="head">
        <h1>{words.instanceMembers}</h1>
      </div>
      <Members place={ofInstance} />
    </>
  )
}
