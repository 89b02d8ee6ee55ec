import { afterAll, beforeAll } from 'vitest'
import { calls } from './calls.ts'
import { clock } from './clock.ts'
import { ends } from './ends.ts'
import { signingIn } from './sign-in.ts'
import { house, setStage } from './stage.ts'

// One Roster serves them all. The clock comes last, since it does not go back.
beforeAll(setStage)
afterAll(() => house?.stop())

signingIn()
calls()
ends()
clock()
