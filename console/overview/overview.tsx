import { useTitle } from '../address/place.ts'
import { NeedsYou } from './needs-you.tsx'
import { NextStep } from './next-step.tsx'
import { SignInsByHour } from './sign-ins-by-hour.tsx'
import { words } from './words.ts'

/** The first page: what to do next, what happened, and what needs somebody. */
export default function Overview() {
  useTitle(words.overview)
  return (
    <>
      <div class="head">
        <h1>{words.overview}</h1>
      </div>
      <NextStep />
      <div class="cols">
        <SignInsByHour />
        <NeedsYou />
      </div>
    </>
  )
}
