import { useRef, useState } from 'preact/hooks'
import { useTitle } from '../address/place.ts'
import type { Added } from './add-application.ts'
import { Result } from './result.tsx'
import { words } from './words.ts'
import { type Chosen, WizardForm } from './wizard-form.tsx'

/** Registers an application, and then shows the lines to paste. */
export default function Wizard() {
  useTitle(words.title)
  const [done, setDone] = useState<{ added: Added; chosen: Chosen }>()
  const madeProject = useRef('')
  if (done) return <Result {...done} />
  return <WizardForm madeProject={madeProject} onAdded={(added, chosen) => setDone({ added, chosen })} />
}
