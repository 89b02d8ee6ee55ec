import * as fc from 'fast-check'
import { account } from './account.ts'
import { changeApp, changePolicy, changes, listProvider, switchProvider, unlink } from './changes.ts'
import { comesFirst } from './first-sign-ins.ts'
import { chooseRecoveryCode, decide, pages, signIn, signInByProvider, useRecoveryCode, visit } from './pages.ts'
import { register } from './register.ts'
import { redeemCode, tokens, use } from './tokens.ts'

/** All that may happen, in any order. Pages come most often, because without them nothing else can happen. */
const one = fc.oneof(
  { weight: 12, arbitrary: fc.oneof(...pages) },
  { weight: 5, arbitrary: fc.oneof(...tokens) },
  { weight: 2, arbitrary: fc.oneof(...changes) },
  { weight: 1, arbitrary: fc.oneof(...account, ...account, ...account, ...register, comesFirst) },
)

/** The way to a token, which few would find by chance. Where its steps do not fit, they are left out. */
const way = fc.tuple(visit, signIn, decide, redeemCode, use)
const wayOfTwo = fc.tuple(changeApp, visit, signIn, chooseRecoveryCode, useRecoveryCode, decide, redeemCode, use)
/** The policy changes while a person is on the way. */
const wayOfPolicy = fc.tuple(changePolicy, visit, signIn, decide, changePolicy, redeemCode, use, changePolicy, use)
/** The provider leaves or comes back while somebody whom it signed in is there. */
const changeOfProvider = fc.oneof(listProvider, switchProvider, unlink)
const wayOfProvider = fc.tuple(
  fc.tuple(comesFirst, visit, signInByProvider, decide, redeemCode, use),
  fc.tuple(changeOfProvider, use, visit, changeOfProvider, use),
)

/** Another link takes the place of the one by which somebody is there. */
const wayOfLinks = fc.tuple(
  fc.tuple(comesFirst, visit, signInByProvider, decide, redeemCode, use),
  fc.tuple(unlink, comesFirst, use, visit, use),
)
const ofProvider = fc.oneof(wayOfProvider, wayOfLinks).map((parts) => parts.flat())

export const commands = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: one.map((command) => [command]) },
      { weight: 1, arbitrary: fc.oneof(way, wayOfTwo, wayOfPolicy, ofProvider, ofProvider) },
    ),
    {
      minLength: 15,
      maxLength: 30,
      size: 'max',
    },
  )
  .map((parts) => parts.flat())
