const en = {
  signInByCode: 'Sign in with the code',
  signInCodeSent:
    'If there is an account {account} that signs in by a code, we have sent one to its address. Check your spam folder, too. If nothing arrives, wait ten minutes before you try again, or ask an administrator.',
  otherName: 'Use another name',
  signsInByMail: 'Codes by email',
  signedInByMail:
    'You signed in by a code by email, so your organization asks for another factor, such as an app or a passkey. The mailbox alone cannot add one. Please ask an administrator for a link.',
  joinByCode: 'You will sign in with codes that we send to this address. No password is needed.',
  anotherWay: 'Or another way:',
  passOver: 'Go on without it',
  passOverHint: 'The application asks for this, and also lets you in without it.',
  trustBrowser: 'Do not ask again on this browser for {days} days',
  trustBrowserHint: 'Not on a device that others use.',
  byTotp: 'Use the authenticator app',
  byMail: 'Get a code by email',
  byRecoveryCode: 'Use a recovery code',
  confirmByApp: 'Enter the code from your app',
  appCodeIntro: 'Your authenticator app shows a code of six digits, and a new one every half minute.',
  appCode: 'Code from the app',
  appCodeWrong: 'This code is wrong, or was used already. Please enter the one that the app shows now.',
  useRecoveryCode: 'Use a recovery code',
  recoveryCodeIntro:
    'Enter one of the codes that you kept for the case that you lose your other factor. Each one works once.',
  recoveryCode: 'Recovery code',
  oneTimeCodeWrong: 'This code is wrong, or was used already. Please try another one.',
  factorLocked:
    'There were too many wrong codes, so no further one is checked here. Please use another way, or ask an administrator.',
  factorNotSetUp: 'Your organization asks for a factor that you do not have. Please ask an administrator for help.',
  setUpDemanded: 'Your organization asks for a second factor.',
  setUpApp: 'Set up an authenticator app',
  setUpAppIntro:
    'An app on your phone shows a code that you enter when you sign in. Several apps can do it, for example your password manager.',
  scanCode: 'Scan this picture with the app. Then enter the code that it shows.',
  qrCode: 'QR code for the authenticator app',
  typeSecret: 'If you cannot scan it, enter this key in the app:',
  secondFactors: 'Second factors',
  secondFactorsIntro: 'Who signs in with your password is asked for one of these, too.',
  secondFactorsByMail: 'Signing in asks for one of these beside the code by email.',
  authenticator: 'Authenticator app',
  isSetUp: 'Set up.',
  isNotSetUp: 'Not set up.',
  removeApp: 'Remove the authenticator app',
  removeAppIntro: 'Its codes do not count any more. If it was your last second factor, your recovery codes go with it.',
  addRefused:
    'Only your mailbox has proved that it is you, and the mailbox alone changes no factor. An administrator can help.',
  factorLast: 'Without this factor you could not sign in any more. Add another one first, or ask an administrator.',
  recoveryCodes: 'Recovery codes',
  noRecoveryCodes: 'None yet. Without them, only an administrator can help if you lose your other factor.',
  recoveryCodesLeft: '{left} can still be used.',
  makeRecoveryCodes: 'Make new recovery codes',
  removeRecoveryCodes: 'Remove the recovery codes',
  recoveryCodesIntro: 'Ten codes, each of which works once in place of a second factor that you have lost.',
  recoveryCodesReplace: 'New ones replace them.',
  recoveryCodesOnce: 'These are your recovery codes. They are shown only now.',
  recoveryCodesPrint: 'Print this page, or copy the codes to a safe place that is not your phone.',
  recoveryCodesKept: 'I have kept them',
  recoveryCodesNeedFactor: 'Recovery codes stand for another second factor. Set one up first.',
  recoveryCodesRemoved: 'Your recovery codes are removed.',
  factorAdded:
    'Signing in asks for your authenticator app from now on. Make recovery codes for the case that you lose it.',
  factorRemoved: 'The second factor is removed.',
}

const de: typeof en = {
  signInByCode: 'Mit dem Code anmelden',
  signInCodeSent:
    'Wenn es ein Konto {account} gibt, das sich mit einem Code anmeldet, haben wir einen an seine Adresse gesendet. Sehen Sie auch im Spam-Ordner nach. Wenn nichts ankommt, warten Sie zehn Minuten, bevor Sie es noch einmal versuchen, oder wenden Sie sich an einen Administrator.',
  otherName: 'Anderen Namen benutzen',
  signsInByMail: 'Codes per E-Mail',
  signedInByMail:
    'Sie haben sich mit einem Code per E-Mail angemeldet. Daher verlangt Ihre Organisation einen weiteren Faktor, zum Beispiel eine App oder einen Passkey. Das Postfach allein kann keinen hinzufügen. Bitten Sie einen Administrator um einen Link.',
  joinByCode: 'Sie melden sich mit Codes an, die wir an diese Adresse senden. Ein Passwort brauchen Sie nicht.',
  anotherWay: 'Oder auf andere Weise:',
  passOver: 'Ohne das weitermachen',
  passOverHint: 'Die Anwendung fragt danach, lässt Sie aber auch ohne das hinein.',
  trustBrowser: 'In diesem Browser {days} Tage lang nicht wieder fragen',
  trustBrowserHint: 'Nicht auf einem Gerät, das andere benutzen.',
  byTotp: 'Authentifizierungs-App benutzen',
  byMail: 'Code per E-Mail erhalten',
  byRecoveryCode: 'Wiederherstellungscode benutzen',
  confirmByApp: 'Code aus Ihrer App eingeben',
  appCodeIntro: 'Ihre Authentifizierungs-App zeigt einen Code aus sechs Ziffern, jede halbe Minute einen neuen.',
  appCode: 'Code aus der App',
  appCodeWrong: 'Dieser Code ist falsch oder wurde schon benutzt. Bitte geben Sie den ein, den die App jetzt zeigt.',
  useRecoveryCode: 'Wiederherstellungscode benutzen',
  recoveryCodeIntro:
    'Geben Sie einen der Codes ein, die Sie für den Fall aufbewahrt haben, dass Sie Ihren anderen Faktor verlieren. Jeder gilt einmal.',
  recoveryCode: 'Wiederherstellungscode',
  oneTimeCodeWrong: 'Dieser Code ist falsch oder wurde schon benutzt. Bitte versuchen Sie einen anderen.',
  factorLocked:
    'Es wurden zu viele falsche Codes eingegeben, daher wird hier keiner mehr geprüft. Bitte benutzen Sie eine andere Weise, oder wenden Sie sich an einen Administrator.',
  factorNotSetUp:
    'Ihre Organisation verlangt einen Faktor, den Sie nicht haben. Bitte wenden Sie sich an einen Administrator.',
  setUpDemanded: 'Ihre Organisation verlangt einen zweiten Faktor.',
  setUpApp: 'Authentifizierungs-App einrichten',
  setUpAppIntro:
    'Eine App auf Ihrem Telefon zeigt einen Code, den Sie bei der Anmeldung eingeben. Mehrere Apps können das, zum Beispiel Ihr Passwort-Manager.',
  scanCode: 'Nehmen Sie dieses Bild mit der App auf. Geben Sie dann den Code ein, den sie zeigt.',
  qrCode: 'QR-Code für die Authentifizierungs-App',
  typeSecret: 'Wenn Sie es nicht aufnehmen können, geben Sie in der App diesen Schlüssel ein:',
  secondFactors: 'Zweite Faktoren',
  secondFactorsIntro: 'Wer sich mit Ihrem Passwort anmeldet, wird auch nach einem davon gefragt.',
  secondFactorsByMail: 'Die Anmeldung fragt neben dem Code per E-Mail nach einem davon.',
  authenticator: 'Authentifizierungs-App',
  isSetUp: 'Eingerichtet.',
  isNotSetUp: 'Nicht eingerichtet.',
  removeApp: 'Authentifizierungs-App entfernen',
  removeAppIntro:
    'Ihre Codes gelten dann nicht mehr. War sie Ihr letzter zweiter Faktor, gelten auch die Wiederherstellungscodes nicht mehr.',
  addRefused:
    'Nur Ihr Postfach hat gezeigt, dass Sie es sind, und das Postfach allein ändert keinen Faktor. Ein Administrator kann helfen.',
  factorLast:
    'Ohne diesen Faktor könnten Sie sich nicht mehr anmelden. Fügen Sie zuerst einen anderen hinzu, oder fragen Sie einen Administrator.',
  recoveryCodes: 'Wiederherstellungscodes',
  noRecoveryCodes: 'Noch keine. Ohne sie kann nur ein Administrator helfen, wenn Sie Ihren anderen Faktor verlieren.',
  recoveryCodesLeft: '{left} können noch benutzt werden.',
  makeRecoveryCodes: 'Neue Wiederherstellungscodes erstellen',
  removeRecoveryCodes: 'Wiederherstellungscodes entfernen',
  recoveryCodesIntro: 'Zehn Codes, von denen jeder einmal anstelle eines zweiten Faktors gilt, den Sie verloren haben.',
  recoveryCodesReplace: 'Neue ersetzen sie.',
  recoveryCodesOnce: 'Das sind Ihre Wiederherstellungscodes. Sie werden nur jetzt gezeigt.',
  recoveryCodesPrint:
    'Drucken Sie diese Seite, oder schreiben Sie die Codes an einen sicheren Ort, der nicht Ihr Telefon ist.',
  recoveryCodesKept: 'Ich habe sie aufbewahrt',
  recoveryCodesNeedFactor:
    'Wiederherstellungscodes stehen für einen anderen zweiten Faktor. Richten Sie zuerst einen ein.',
  recoveryCodesRemoved: 'Ihre Wiederherstellungscodes sind entfernt.',
  factorAdded:
    'Die Anmeldung fragt ab jetzt nach Ihrer Authentifizierungs-App. Erstellen Sie Wiederherstellungscodes für den Fall, dass Sie sie verlieren.',
  factorRemoved: 'Der zweite Faktor ist entfernt.',
}

/** Texts of second factors. */
export const factor = { en, de }
