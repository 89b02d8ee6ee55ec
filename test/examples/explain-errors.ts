import { type ErrorCase, fails, invalid, notFound, type World } from './world.ts'

const mayRead = ({ human: { userId } }: World) => ({ userId, permission: 'user.read' })
const role = (userId: string, projectId: string) => ({ userId, role: { projectId, roleKey: 'reader' } })

/** ExplainPermission, ExplainSignIn and ExplainToken. */
export const explainErrors: ErrorCase[] = [
  fails('ExplainPermission', notFound('USER_NOT_FOUND'), 'a caller of the instance asks about an unknown user', () => ({
    userId: 'unknown',
    permission: 'user.read',
  })),
  fails('ExplainPermission', invalid, 'nothing is asked', ({ human: { userId } }) => ({ userId }), {
    fields: ['question'],
  }),
  fails(
    'ExplainPermission',
    invalid,
    'the permission is unknown',
    (world) => ({ ...mayRead(world), permission: 'x' }),
    {
      fields: ['permission'],
    },
  ),
  ...['GetUser', '/roster.users.v1.InternalService/LookupUser', '/v2/users/human'].map((operation) =>
    fails(
      'ExplainPermission',
      invalid,
      `the operation is "${operation}"`,
      ({ human: { userId } }) => ({ userId, operation }),
      { fields: ['operation'] },
    ),
  ),
  fails('ExplainPermission', notFound('PROJECT_NOT_FOUND'), 'the project is unknown', ({ human }) =>
    role(human.userId, 'unknown'),
  ),
  fails(
    'ExplainPermission',
    notFound('PROJECT_NOT_FOUND'),
    'the project was never granted',
    ({ stranger, project }) => role(stranger.userId, project),
    { organization: ({ abroad }) => abroad },
  ),
  fails(
    'ExplainPermission',
    invalid,
    'a position is beyond 2^53 - 1',
    (world) => ({ ...mayRead(world), asOfPosition: '9007199254740993' }),
    { fields: ['asOfPosition'] },
  ),
  fails('ExplainPermission', notFound('EVENT_NOT_FOUND'), 'no event has the position', (world) => ({
    ...mayRead(world),
    asOfPosition: '9007199254740991',
  })),
  fails('ExplainPermission', notFound('REFUSAL_NOT_FOUND'), 'no call of that id was refused', ({ human }) => ({
    userId: human.userId,
    requestId: 'unknown',
  })),
  fails(
    'ExplainPermission',
    invalid,
    'a refused call is asked for as of another time',
    ({ human: { userId } }) => ({ userId, requestId: 'x', asOfPosition: '1' }),
    { fields: ['requestId'] },
  ),
  fails(
    'ExplainSignIn',
    notFound('USER_NOT_FOUND'),
    'a caller of the instance asks about the sign-ins of an unknown user',
    () => ({ userId: 'unknown', clientId: 'x' }),
  ),
  fails('ExplainSignIn', notFound('USER_NOT_FOUND'), 'machines do not sign in', ({ machineId }) => ({
    userId: machineId,
    clientId: 'x',
  })),
  fails('ExplainSignIn', notFound('USER_NOT_FOUND'), 'the login name means no one', () => ({
    loginName: 'no-one-has-this-name',
    clientId: 'x',
  })),
  fails('ExplainSignIn', notFound('APPLICATION_NOT_FOUND'), 'no application has the name', ({ human: { userId } }) => ({
    userId,
    applicationName: 'No application has this name',
  })),
  fails('ExplainSignIn', invalid, 'no user is named', () => ({ clientId: 'x' }), { fields: ['userId'] }),
  fails(
    'ExplainSignIn',
    invalid,
    'the user is named twice',
    ({ human: { userId } }) => ({ userId, loginName: 'x', clientId: 'x' }),
    { fields: ['loginName'] },
  ),
  fails(
    'ExplainSignIn',
    invalid,
    'both a request and what the application has are named',
    ({ human: { userId } }) => ({ userId, clientId: 'x', requestId: 'x', authorizationId: 'x' }),
    { fields: ['requestId'] },
  ),
  fails('ExplainToken', invalid, 'no token is sent', () => ({}), { fields: ['token'] }),
  fails('ExplainSignIn', invalid, 'no application is named', ({ human: { userId } }) => ({ userId }), {
    fields: ['application'],
  }),
  fails(
    'ExplainSignIn',
    invalid,
    'no request says so',
    ({ human: { userId } }) => ({ userId, clientId: 'x', prompts: ['none'], maxAge: -1, limit: 1001 }),
    { fields: ['prompts[0]', 'maxAge', 'limit'] },
  ),
  fails(
    'ExplainSignIn',
    { ...invalid, reason: 'CURSOR_INVALID' },
    'the cursor is of no explanation',
    ({ human: { userId } }) => ({ userId, clientId: 'x', cursor: 'x' }),
    { fields: ['cursor'] },
  ),
]
