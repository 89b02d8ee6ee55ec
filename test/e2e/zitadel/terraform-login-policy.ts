import { type Clients, type Service } from './clients.ts'

/** What ZITADEL's Terraform provider has in its state of `zitadel_login_policy` and of the default one. */
export interface PolicyState {
  policy: Record<string, unknown>
  secondFactors: number[]
  multiFactors: number[]
  idps: string[]
}

const seconds = (seconds: number) => ({ seconds: BigInt(seconds), nanos: 0 })

/** A configuration in which every field is set. */
export const policyState = (): PolicyState => ({
  policy: {
    allowUsernamePassword: true,
    allowRegister: true,
    allowExternalIdp: true,
    forceMfa: true,
    passwordlessType: 1,
    hidePasswordReset: true,
    ignoreUnknownUsernames: true,
    defaultRedirectUri: 'https://app.example.com/start',
    passwordCheckLifetime: seconds(36_000),
    externalLoginCheckLifetime: seconds(864_000),
    mfaInitSkipLifetime: seconds(2_592_000),
    secondFactorCheckLifetime: seconds(64_800),
    multiFactorCheckLifetime: seconds(43_200),
    allowDomainDiscovery: false,
    disableLoginWithEmail: false,
    disableLoginWithPhone: false,
    forceMfaLocalOnly: false,
  },
  secondFactors: [1, 2],
  multiFactors: [1],
  idps: ['123456789012345678'],
})

/** The other value of all that may have one. */
export const changedState = (): PolicyState => ({
  ...policyState(),
  policy: {
    ...policyState().policy,
    allowRegister: false,
    allowExternalIdp: false,
    forceMfa: false,
    passwordlessType: 0,
    hidePasswordReset: false,
    defaultRedirectUri: '',
    passwordCheckLifetime: seconds(60),
    externalLoginCheckLifetime: seconds(0),
    mfaInitSkipLifetime: seconds(0),
    secondFactorCheckLifetime: seconds(120),
    multiFactorCheckLifetime: seconds(60),
    disableLoginWithPhone: true,
  },
  secondFactors: [2, 3],
  multiFactors: [],
  idps: ['234567890123456789', '345678901234567890'],
})

async function lists(api: Service): Promise<Omit<PolicyState, 'policy'>> {
  return {
    secondFactors: (await api['listLoginPolicySecondFactors']!({})).result,
    multiFactors: (await api['listLoginPolicyMultiFactors']!({})).result,
    idps: (await api['listLoginPolicyIDPs']!({})).result.map(({ idpId }: { idpId: string }) => idpId),
  }
}

/** Its read: undefined where it drops the resource from its state. */
async function read(api: Service) {
  const { policy } = await api['getLoginPolicy']!({})
  const {
    details,
    isDefault,
    $typeName: _1,
    $unknown: _2,
    secondFactors: _3,
    multiFactors: _4,
    idps: _5,
    ...rest
  } = policy
  const id = details?.resourceOwner ?? ''
  if (id === '') return undefined
  const plain = Object.entries(rest).map(([name, value]: [string, any]) => [
    name,
    value?.$typeName ? { seconds: value.seconds, nanos: value.nanos } : value,
  ])
  return { id, isDefault, state: { policy: Object.fromEntries(plain), ...(await lists(api)) } }
}

async function changeLists(api: Service, former: PolicyState, state: PolicyState): Promise<void> {
  for (const [list, name] of [
    ['secondFactors', 'Second'],
    ['multiFactors', 'Multi'],
  ] as const) {
    for (const type of state[list].filter((one) => !former[list].includes(one)))
      await api[`add${name}FactorToLoginPolicy`]!({ type })
    for (const type of former[list].filter((one) => !state[list].includes(one)))
      await api[`remove${name}FactorFromLoginPolicy`]!({ type })
  }
  await addProviders(api, former, state)
  for (const idpId of former.idps.filter((one) => !state.idps.includes(one)))
    await api['removeIDPFromLoginPolicy']!({ idpId })
}

// It asks first who has the provider, and falls back where nobody has it.
async function addProviders(api: Service, former: Pick<PolicyState, 'idps'>, { idps }: PolicyState): Promise<void> {
  for (const idpId of idps.filter((one) => !former.idps.includes(one)))
    await api['addIDPToLoginPolicy']!({ idpId, ownerType: 1 })
}

/** The calls of `zitadel_login_policy`, in the order in which the provider makes them. */
export const organizationPolicy = ({ management: api }: Clients) => ({
  async create(state: PolicyState): Promise<void> {
    const { policy, secondFactors, multiFactors } = state
    await api['addCustomLoginPolicy']!({ ...policy, secondFactors, multiFactors })
    await addProviders(api, { idps: [] }, state)
  },
  async read() {
    const found = await read(api)
    return found?.isDefault ? undefined : found
  },
  async update(former: PolicyState, state: PolicyState): Promise<void> {
    await api['updateCustomLoginPolicy']!(state.policy)
    await changeLists(api, former, state)
  },
  delete: (): Promise<unknown> => api['resetLoginPolicyToDefault']!({}),
})

/** The calls of `zitadel_default_login_policy`: there is nothing to create or to delete. */
export const instancePolicy = ({ admin: api }: Clients) => ({
  async update(state: PolicyState): Promise<string> {
    const { details } = await api['updateLoginPolicy']!(state.policy)
    await changeLists(api, { policy: {}, ...(await lists(api)) }, state)
    return details.resourceOwner
  },
  read: () => read(api),
})
